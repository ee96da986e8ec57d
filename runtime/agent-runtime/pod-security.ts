/** Pods that the namespace's Pod Security level would refuse for what is injected into them. */

import { labels } from '../api/names.ts';
import { restrictingLevel } from '../workload/pod-security.ts';
import type { Workload } from '../workload/workload.ts';
import { injectionOff } from './injection.ts';
import { error, type Obstacle } from './obstacles.ts';
import type { Facts } from './observed.ts';

export function podSecurityConflict(facts: Facts, workload: Workload): Obstacle | undefined {
  const { configuration, namespace, runtime } = facts;
  if (configuration.kind === 'broken') return undefined;
  const { config, gates } = configuration.effective;
  const level = restrictingLevel(namespace.labels);
  const hasProxyInit =
    config.authBridge.mode === 'envoy-sidecar' &&
    gates.envoyProxy &&
    workload.templateLabels[labels.envoyProxyInject] !== 'false' &&
    injectionOff(facts, workload) === undefined;
  if (!hasProxyInit || level === undefined) return undefined;
  return error(
    'PodSecurityConflict',
    `Namespace ${runtime.metadata.namespace ?? ''} enforces Pod Security "${level}", which refuses the NET_ADMIN capability of container proxy-init. Set spec.authBridgeMode: proxy-sidecar, which needs none.`,
  );
}
