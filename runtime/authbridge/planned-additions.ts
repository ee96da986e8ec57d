/** Works out what an injection adds to a pod, as far as the pod leaves room for it. */

import type { AgentRuntime } from '../api/agent-runtime.ts';
import type { Pod } from '../api/kubernetes.ts';
import { credentialsSecretName, labels } from '../api/names.ts';
import { portExclusions } from '../config/port-exclusions.ts';
import { volumeTaken } from '../config/volume-names.ts';
import type { Build } from './build.ts';
import type { Facts } from './conflicts.ts';
import { explicitOf } from './explicit.ts';
import { type Additions, additions } from './inject.ts';
import type { Memory } from './memory.ts';
import { chosenPorts, configuredPorts, isClash, probesOfProxy, usedPorts } from './ports.ts';
import { probedPaths } from './probes.ts';
import type { Refusal, Snapshot } from './snapshot.ts';

/** A snapshot that has passed every gate. */
export type Eligible = Snapshot & { readonly pod: Pod; readonly runtime: AgentRuntime };

export type EligibleFacts = Facts & { readonly snapshot: Eligible };

/** What would be added, or why it cannot be: no free port, a volume name that is taken. */
export function plannedAdditions(
  { snapshot, pod, effective, components }: EligibleFacts,
  memory: Memory,
): Additions | Refusal {
  const exclusions = portExclusions(pod.metadata.annotations);
  const ports = chosenPorts(configuredPorts(effective.config.proxy), usedPorts(pod.spec));
  if (isClash(ports)) {
    const note = `the proxy's ${ports.role} port ${ports.port} is used by container ${ports.container} and no port above it is free; set another proxy.${ports.role}Port`;
    return { reason: 'PortConflict', note };
  }
  const build: Build = {
    effective,
    components,
    ports,
    exclusions: exclusions.ok ? exclusions : { outbound: [], inbound: [] },
    probes: probedPaths(pod.spec),
    explicit: explicitOf({ pod, effective, components }),
    credentialsSecret: credentialsSecretName(snapshot.namespace, snapshot.runtime.spec.targetRef.name),
    clientId: `${snapshot.namespace}/${snapshot.runtime.spec.targetRef.name}`,
    nativeSidecars: snapshot.nativeSidecars,
    configHash: memory.hash(snapshot.layers, pod.metadata.labels?.[labels.type] === 'tool' ? 'tool' : 'agent'),
  };
  const added = additions(build);
  return (
    volumeTaken(
      pod.spec,
      added.volumes.map(({ name }) => name),
    ) ?? added
  );
}

/** A probe of a port where the application is not known to listen, and the proxy would: it is left to the application, so it never finds the proxy. */
export function probeWarnings({ pod, effective }: Facts): readonly string[] {
  return probesOfProxy(configuredPorts(effective.config.proxy), pod.spec).map(
    ({ role, port, container }) =>
      `container ${container} is probed at port ${port}, which is left to it, so the proxy has another ${role} port; if the proxy was meant, leave the probe out: its own probes hold the pod back until it is ready. Else declare the port in ports`,
  );
}
