/** What a webhook configuration says about us: its faults, the authorities it trusts, and the patch that corrects those. */

import { Buffer } from 'node:buffer';
import type { JsonPatchOperation } from './json-patch.ts';
import type { KubeObject, Kind } from './types.ts';

/** A MutatingWebhookConfiguration or ValidatingWebhookConfiguration, as far as it is read here. */
export interface WebhookConfigurationObject extends KubeObject {
  readonly webhooks?: readonly {
    readonly name: string;
    readonly clientConfig: {
      readonly caBundle?: string;
      readonly url?: string;
      readonly service?: { readonly namespace: string; readonly name: string };
    };
  }[];
}

export interface ConfigurationRef {
  readonly kind: Kind<WebhookConfigurationObject>;
  readonly name: string;
}

/** Where the API server shall find us: a Service, or a base URL when the process runs outside the cluster. */
export type Endpoint =
  | { readonly service: { readonly namespace: string; readonly name: string } }
  | { readonly url: string };

/** Why the API server would not reach us through this configuration, as a sentence; undefined when it would. */
export function configurationFault(
  { kind, name }: ConfigurationRef,
  configuration: WebhookConfigurationObject | undefined,
  endpoint: Endpoint,
): string | undefined {
  const it = `${kind.kind} ${name}`;
  if (configuration === undefined)
    return `${it} does not exist: install it, or set the name under which it was installed`;
  const { webhooks = [] } = configuration;
  if (webhooks.length === 0) return `${it} has no webhooks`;
  for (const { name: webhook, clientConfig } of webhooks) {
    const elsewhere = misdirection(clientConfig, endpoint);
    if (elsewhere !== undefined) return `webhook ${webhook} of ${it} ${elsewhere}`;
    if ((clientConfig.caBundle ?? '') === '') return `webhook ${webhook} of ${it} has an empty caBundle`;
  }
  return undefined;
}

type ClientConfig = NonNullable<WebhookConfigurationObject['webhooks']>[number]['clientConfig'];

function misdirection({ service, url }: ClientConfig, endpoint: Endpoint): string | undefined {
  if ('url' in endpoint) return url?.startsWith(endpoint.url) === true ? undefined : `does not call ${endpoint.url}`;
  const wanted = `Service ${endpoint.service.namespace}/${endpoint.service.name}`;
  if (service === undefined) return `calls ${url ?? 'nothing'} instead of ${wanted}`;
  const actual = `Service ${service.namespace}/${service.name}`;
  return actual === wanted ? undefined : `calls ${actual} instead of ${wanted}`;
}

/** The bundles of its webhooks, PEM. */
export function bundlesIn(configuration: WebhookConfigurationObject): readonly string[] {
  return (configuration.webhooks ?? []).map(({ clientConfig }) => decode(clientConfig.caBundle));
}

function decode(base64 = ''): string {
  return Buffer.from(base64, 'base64').toString('utf8');
}

/**
 * The operations that give every webhook this bundle; none when all have it. They apply to the version read and to no other.
 * Not server-side apply: the list is keyed by `name`, so an entry that we own in part could no longer be removed by its installer
 * (the API server answers 422 to whoever drops it), and `clientConfig` has one owner of its own.
 */
export function bundleOperations(configuration: WebhookConfigurationObject, bundle: string): readonly unknown[] {
  const value = Buffer.from(bundle).toString('base64');
  const operations: (JsonPatchOperation | Test)[] = [];
  for (const [at, { name, clientConfig }] of (configuration.webhooks ?? []).entries()) {
    if (clientConfig.caBundle === value) continue;
    operations.push({ op: 'test', path: `/webhooks/${at}/name`, value: name });
    operations.push({ op: 'add', path: `/webhooks/${at}/clientConfig/caBundle`, value });
  }
  if (operations.length === 0) return [];
  const { resourceVersion } = configuration.metadata;
  return [{ op: 'test', path: '/metadata/resourceVersion', value: resourceVersion }, ...operations];
}

interface Test {
  readonly op: 'test';
  readonly path: string;
  readonly value: unknown;
}
