/** The operator as it runs: account, Deployment, webhook Service and disruption budget. */

import type { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { install, operatorPodLabels } from '../runtime/api/names.ts';
import { release } from '../runtime/api/release.ts';
import type { CertificateSource } from './certificates.ts';
import { operatorPodSpec, type OperatorPodProps } from './operator-pod.ts';
import { instanceLabels, platformObject } from './platform-objects.ts';

/** Props of `OperatorDeployment`. */
export interface OperatorDeploymentProps extends OperatorPodProps {
  readonly namespace: string;
  readonly deploymentName: string;
  readonly replicas: number;
  readonly certificates: CertificateSource;
}

const component = 'operator';

/** Two replicas by default: webhooks are served by every one of them, controllers run on the holder of the Lease. */
export class OperatorDeployment extends Construct {
  readonly serviceAccount: ApiObject;
  readonly deployment: ApiObject;
  readonly service: ApiObject;

  constructor(scope: Construct, id: string, props: OperatorDeploymentProps) {
    super(scope, id);
    const { namespace } = props;
    this.serviceAccount = platformObject(this, 'account', {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      name: props.serviceAccountName,
      namespace,
      component,
    });
    this.deployment = platformObject(this, 'deployment', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name: props.deploymentName,
      namespace,
      component,
      labels: { 'app.kubernetes.io/version': release },
      content: { spec: deploymentSpec(props, instanceLabels(this)) },
    });
    this.service = platformObject(this, 'service', {
      apiVersion: 'v1',
      kind: 'Service',
      name: install.webhookService,
      namespace,
      component,
      content: {
        spec: {
          selector: operatorPodLabels,
          ports: [
            { name: 'webhook', port: 443, targetPort: 'webhook', protocol: 'TCP' },
            { name: 'metrics', port: 8080, targetPort: 'metrics', protocol: 'TCP' },
          ],
        },
      },
    });
    // One pod at a time may be drained; one that is not ready never holds up a node.
    platformObject(this, 'budget', {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      name: props.deploymentName,
      namespace,
      component,
      content: {
        spec: {
          maxUnavailable: 1,
          unhealthyPodEvictionPolicy: 'AlwaysAllow',
          selector: { matchLabels: operatorPodLabels },
        },
      },
    });
  }
}

function deploymentSpec(
  props: OperatorDeploymentProps,
  labels: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> {
  return {
    replicas: props.replicas,
    revisionHistoryLimit: 3,
    selector: { matchLabels: operatorPodLabels },
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    template: {
      metadata: {
        labels: { 'app.kubernetes.io/part-of': 'rossoctl', ...operatorPodLabels, ...labels },
        annotations: { 'kubectl.kubernetes.io/default-container': 'operator' },
      },
      spec: { ...operatorPodSpec(props), topologySpreadConstraints: spread() },
    },
  };
}

/** Over nodes, then zones, where there are several; a cluster with one node still runs both replicas. */
function spread(): readonly Readonly<Record<string, unknown>>[] {
  return ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'].map((topologyKey) => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector: { matchLabels: operatorPodLabels },
    matchLabelKeys: ['pod-template-hash'],
  }));
}
