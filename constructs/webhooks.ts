/** The webhook registrations: which requests the API server asks the operator about, and which it never can. */

import type { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { kinds } from '../runtime/api/kinds.ts';
import type { Kind } from '../runtime/engine/types.ts';
import {
  apiGroup,
  install,
  labels,
  namespaceNameLabel,
  webhookConfigurationsOf,
  webhooks,
} from '../runtime/api/names.ts';
import { systemNamespaces } from '../runtime/api/system-namespaces.ts';
import { platformObject } from './platform-objects.ts';
import type { WatchedNamespaces } from './watched-namespaces.ts';

/** Props of `OperatorWebhooks`. */
export interface OperatorWebhooksProps {
  /** The operator's namespace: where the webhook Service is, and never matched. */
  readonly namespace: string;
  readonly watched: WatchedNamespaces;
  /** Inject only in namespaces labelled `rossoctl-enabled: "true"`. */
  readonly requireNamespaceLabel: boolean;
  /** Which of several installs it is. */
  readonly instance: string | undefined;
  /** Annotations of both configurations, for example cert-manager's request to fill in the CA. */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

const api = 'admissionregistration.k8s.io/v1';
const component = 'webhooks';

/**
 * `rossoctl-injector` and `rossoctl-validator`, with the instance behind each name where there is one. Doubt denies: `failurePolicy: Fail`. Because of that the selectors are narrow:
 * only pods labelled as agent or tool, never a system namespace, never the operator's own (field report AD-01).
 * `caBundle` is never in a manifest: the operator fills it in, and nothing here takes it back (PU-02).
 */
export class OperatorWebhooks extends Construct {
  readonly injector: ApiObject;
  readonly validator: ApiObject;

  constructor(scope: Construct, id: string, props: OperatorWebhooksProps) {
    super(scope, id);
    const { annotations } = props;
    const names = webhookConfigurationsOf(props.instance);
    this.injector = platformObject(this, 'injector', {
      apiVersion: api,
      kind: kinds.mutatingWebhookConfiguration.kind,
      name: names.injector,
      component,
      annotations,
      content: { webhooks: [injector(props)] },
    });
    this.validator = platformObject(this, 'validator', {
      apiVersion: api,
      kind: kinds.validatingWebhookConfiguration.kind,
      name: names.validator,
      component,
      annotations,
      content: {
        webhooks: [
          validator(props, webhooks.agentRuntime, kinds.agentRuntime),
          validator(props, webhooks.agentCard, kinds.agentCard),
        ],
      },
    });
  }
}

type Json = Readonly<Record<string, unknown>>;

interface Hook {
  readonly name: string;
  readonly path: string;
}

/** What all webhooks have in common. */
function webhook(namespace: string, { name, path }: Hook): Json {
  return {
    name,
    clientConfig: { service: { namespace, name: install.webhookService, path, port: 443 } },
    admissionReviewVersions: ['v1'],
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    sideEffects: 'None',
    timeoutSeconds: 10,
  };
}

function injector({ namespace, watched, requireNamespaceLabel }: OperatorWebhooksProps): Json {
  const never = { key: namespaceNameLabel, operator: 'NotIn', values: [...systemNamespaces, namespace] };
  const gate = requireNamespaceLabel ? { matchLabels: { [labels.enabled]: 'true' } } : {};
  return {
    ...webhook(namespace, webhooks.inject),
    reinvocationPolicy: 'IfNeeded',
    rules: [rule('', 'pods', ['CREATE'])],
    namespaceSelector: watched.late((names) => ({
      ...gate,
      matchExpressions: [never, ...watched.matchExpressions(names)],
    })),
    objectSelector: {
      matchExpressions: [
        { key: labels.type, operator: 'In', values: ['agent', 'tool'] },
        { key: labels.inject, operator: 'NotIn', values: ['disabled'] },
      ],
    },
  };
}

/**
 * Asked only where its answer can matter: a new object or a changed spec. A change of finalizers or of labels, and anything
 * on an object that is being deleted, never waits for the operator (field report RC-04).
 */
function validator({ namespace, watched }: OperatorWebhooksProps, hook: Hook, { plural }: Kind): Json {
  return {
    ...webhook(namespace, hook),
    rules: [rule(apiGroup, plural, ['CREATE', 'UPDATE'])],
    namespaceSelector: watched.late((names) => watched.selector(names)),
    matchConditions: [
      { name: 'not-being-deleted', expression: '!has(object.metadata.deletionTimestamp)' },
      { name: 'spec-is-new', expression: 'request.operation == "CREATE" || object.spec != oldObject.spec' },
    ],
  };
}

function rule(group: string, resource: string, operations: readonly string[]): Json {
  const apiVersions = group === '' ? ['v1'] : ['v1alpha1'];
  return { apiGroups: [group], apiVersions, resources: [resource], operations, scope: 'Namespaced' };
}
