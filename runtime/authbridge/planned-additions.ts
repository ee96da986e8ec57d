/** Works out what an injection adds to a pod, as far as the pod leaves room for it. */

import type { AgentRuntime } from '../api/agent-runtime.ts';
import type { Pod } from '../api/kubernetes.ts';
import { containers, credentialsSecretName, labels } from '../api/names.ts';
import type { Build } from './build.ts';
import type { Facts } from './conflicts.ts';
import { type Additions, additions } from './inject.ts';
import type { Memory } from './memory.ts';
import { portExclusions } from './port-exclusions.ts';
import { chosenPorts, configuredPorts, isClash, usedPorts } from './ports.ts';
import type { Refusal, Snapshot } from './snapshot.ts';
import { volumeNames } from './volumes.ts';

/** A snapshot that has passed every gate. */
export type Eligible = Snapshot & { readonly pod: Pod; readonly runtime: AgentRuntime };

export type EligibleFacts = Facts & { readonly snapshot: Eligible };

/** What would be added, or why it cannot be: excluded ports that are none, no free port, a volume name that is taken. */
export function plannedAdditions(
  { snapshot, pod, effective, components }: EligibleFacts,
  memory: Memory,
): Additions | Refusal {
  const exclusions = portExclusions(pod.metadata.annotations);
  if (!exclusions.ok && components.containers[containers.proxyInit].inject) {
    const tokens = exclusions.tokens.map((token) => JSON.stringify(token)).join(', ');
    const note = `annotation ${exclusions.annotation} holds ${tokens}; give port numbers from 1 to 65535, separated by commas`;
    return { reason: 'InvalidAnnotation', note };
  }
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
    credentialsSecret: credentialsSecretName(snapshot.namespace, snapshot.runtime.spec.targetRef.name),
    nativeSidecars: snapshot.nativeSidecars,
    configHash: memory.hash(snapshot.layers, pod.metadata.labels?.[labels.type] === 'tool' ? 'tool' : 'agent'),
  };
  const added = additions(build);
  return volumeConflict(pod, added) ?? added;
}

/** A user's own emptyDir of the name `rossoctl-svid` is how an application shares the certificates; anything else is a clash. */
function volumeConflict({ spec }: Pod, { volumes }: Additions): Refusal | undefined {
  const own = new Map((spec.volumes ?? []).map((volume) => [volume.name, volume]));
  const taken = volumes.find(({ name }) => {
    const theirs = own.get(name);
    return theirs !== undefined && !(name === volumeNames.svid && theirs.emptyDir);
  });
  if (taken === undefined) return undefined;
  const note = `the pod has a volume of its own named ${taken.name}, which is the name of an injected one; rename it`;
  return { reason: 'VolumeNameTaken', note };
}
