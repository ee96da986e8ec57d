/** What makes an injected pod impossible or unsafe: one row a rule, each with the sentence that says what to do. Of a pod, or of the template it is made from. */

import type { conflictReasons } from '../api/conditions.ts';
import type { Pod } from '../api/kubernetes.ts';
import { containers, credentialsSecretName } from '../api/names.ts';
import { type Components, containerNames, lacksCsiDriver, spiffeCsiDriver } from './components.ts';
import type { Effective } from './layers.ts';
import { markerOf, ourNamesIn } from './marker.ts';
import { portExclusions } from './port-exclusions.ts';
import { volumeNamesOf, volumeTaken } from './volume-names.ts';

export type ConflictReason = (typeof conflictReasons)[number];

/** The reason and one sentence with the remedy. */
export interface Conflict {
  readonly reason: ConflictReason;
  readonly note: string;
}

/** What a rule looks at. */
export interface ConflictFacts {
  readonly pod: Pick<Pod, 'metadata' | 'spec'>;
  readonly namespace: string;
  /** The Pod Security level that the namespace enforces, when it refuses NET_ADMIN. */
  readonly restrictingLevel: string | undefined;
  readonly csiDriver: boolean;
  readonly effective: Effective;
  readonly components: Components;
}

type Rule = (facts: ConflictFacts) => string | undefined;

const noRedirection = 'set authBridgeMode: proxy-sidecar on the AgentRuntime, which needs no traffic redirection';

/** In this order; the first that speaks decides. */
const rules: readonly (readonly [ConflictReason, Rule])[] = Object.freeze([
  ['UnsupportedOS', unsupportedOs],
  ['ContainerNameTaken', containerNameTaken],
  ['HostNetworkConflict', hostNetwork],
  ['PodSecurityConflict', podSecurity],
  ['SpiffeUnavailable', strictWithoutSpiffe],
  ['ProxyUidTaken', proxyUidTaken],
  ['InvalidAnnotation', invalidAnnotation],
]);

/** The one rule that also holds where nothing would be injected: strict mutual TLS is never quietly dropped for want of a driver. */
export function strictConflict(facts: ConflictFacts): Conflict | undefined {
  const note = strictWithoutSpiffe(facts);
  return note === undefined ? undefined : { reason: 'SpiffeUnavailable', note };
}

/** The first conflict of a pod that is about to be injected. */
export function conflictOf(facts: ConflictFacts): Conflict | undefined {
  for (const [reason, rule] of rules) {
    const note = rule(facts);
    if (note !== undefined) return { reason, note };
  }
  return undefined;
}

/**
 * Why every pod of a template is certain to be refused, before there is one; `workload` is its workload's name. A template that claims to be
 * injected already is for the webhook to judge.
 */
export function templateConflict(facts: ConflictFacts, workload: string): Conflict | undefined {
  const { pod, namespace, effective, components } = facts;
  const marker = markerOf(pod);
  if (marker.state === 'forged') return { reason: 'MarkerForged', note: marker.note };
  if (marker.state === 'claimed') return undefined;
  if (!containerNames.some((name) => components.containers[name].inject)) return strictConflict(facts);
  const names = volumeNamesOf(components, effective.config, credentialsSecretName(namespace, workload));
  return conflictOf(facts) ?? volumeTaken(pod.spec, names);
}

function redirects({ components }: ConflictFacts): boolean {
  return components.containers[containers.proxyInit].inject;
}

function unsupportedOs({ pod }: ConflictFacts): string | undefined {
  const { os }: Pod['spec'] & { readonly os?: { readonly name?: string } } = pod.spec;
  if (os?.name === undefined || os.name === 'linux') return undefined;
  return `the pod runs on ${os.name}, for which there are no sidecars; label its template rossoctl.io/inject: disabled`;
}

function containerNameTaken({ pod }: ConflictFacts): string | undefined {
  const [name] = ourNamesIn(pod);
  return name && `the pod has a container of its own named ${name}, which is the name of an injected one; rename it`;
}

function hostNetwork(facts: ConflictFacts): string | undefined {
  if (!redirects(facts) || facts.pod.spec.hostNetwork !== true) return undefined;
  return `the pod uses the host's network, and proxy-init would redirect the node's traffic; ${noRedirection}, or remove hostNetwork`;
}

function podSecurity(facts: ConflictFacts): string | undefined {
  const { namespace, restrictingLevel: level, effective, components } = facts;
  if (level === undefined) return undefined;
  const where = `namespace ${namespace} enforces Pod Security "${level}" (PodSecurityConflict), which forbids`;
  if (redirects(facts)) return `${where} proxy-init its capabilities NET_ADMIN and NET_RAW; ${noRedirection}`;
  if (!components.spiffe.inject || effective.config.spiffe.volume === 'csi') return undefined;
  return `${where} hostPath volumes; set spiffe.volume: csi in the platform configuration`;
}

function strictWithoutSpiffe({ pod, csiDriver, effective, components }: ConflictFacts): string | undefined {
  if (effective.config.mtls.mode !== 'strict' || components.spiffe.inject) return undefined;
  if (lacksCsiDriver(pod, effective, csiDriver)) {
    return `mtlsMode strict needs a SPIFFE identity, but the cluster has no CSI driver ${spiffeCsiDriver}; install SPIRE with it, or set mtlsMode: permissive`;
  }
  if (!components.containers[containers.envoyProxy].inject) return undefined;
  return `mtlsMode strict needs a SPIFFE identity, but ${components.spiffe.reason}; turn it on, or set mtlsMode: permissive`;
}

function proxyUidTaken(facts: ConflictFacts): string | undefined {
  if (!redirects(facts)) return undefined;
  const { initContainers, containers: own, securityContext } = facts.pod.spec;
  const { uid } = facts.effective.config.proxy;
  const taken = [...(initContainers ?? []), ...own].find(
    ({ name, securityContext: own }) =>
      (own?.runAsUser ?? securityContext?.runAsUser) === uid && !meshContainers.includes(name),
  );
  return (
    taken &&
    `container ${taken.name} runs as user ${uid}, the proxy's own, so its traffic would bypass the proxy; use another runAsUser, or another proxy.uid in the platform configuration`
  );
}

/** Istio's containers: they run as 1337 as well, and carry the application's traffic, not their own. */
export const meshContainers: readonly string[] = ['istio-proxy', 'istio-init', 'istio-validation'];

function invalidAnnotation(facts: ConflictFacts): string | undefined {
  const exclusions = portExclusions(facts.pod.metadata.annotations);
  if (exclusions.ok || !redirects(facts)) return undefined;
  const tokens = exclusions.tokens.map((token) => JSON.stringify(token)).join(', ');
  return `annotation ${exclusions.annotation} holds ${tokens}; give port numbers from 1 to 65535, separated by commas`;
}
