/** The ports of one pod, by its own containers: a rollout may have changed the template since, and the pod still listens where it did. */

import type { Container, Pod } from '../api/kubernetes.ts';
import { cardPort, isTcp, type Port, type ServedPort } from './port.ts';

/**
 * Where a Service's port leads on this pod, as Kubernetes finds it (`FindPort`): a number is itself; a name is looked for among the TCP ports
 * of the containers, then of the native sidecars. `undefined`: none has that name.
 */
export function targetPortOf({ spec }: Pod, { number, targetPort = 0 }: ServedPort): number | undefined {
  if (typeof targetPort === 'number') return targetPort === 0 ? number : targetPort;
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return portsOf([...spec.containers, ...sidecars]).find((port) => isTcp(port) && port.name === targetPort)?.number;
}

/** Which of the declared ports a card is likely served on, where no Service says: of the containers proper alone. */
export function declaredPortOf({ spec }: Pod): Port | undefined {
  return cardPort(portsOf(spec.containers));
}

function portsOf(containers: readonly Container[]): readonly Port[] {
  return containers
    .flatMap(({ ports = [] }) => ports)
    .map(({ name, containerPort, protocol }) => ({ name, number: containerPort, protocol }));
}
