/** What makes an injected pod impossible or unsafe: one row a rule, each with the sentence that says what to do. */

import type { Pod } from '../api/kubernetes.ts';
import { containers } from '../api/names.ts';
import type { Effective } from '../config/layers.ts';
import { restrictingLevel } from '../workload/pod-security.ts';
import { lacksCsiDriver } from './components.ts';
import { ourNamesIn } from './marker.ts';
import type { Components, Reason, Refusal, Snapshot } from './snapshot.ts';
import { spiffeCsiDriver } from './volumes.ts';

/** What a rule looks at. */
export interface Facts {
  readonly snapshot: Snapshot;
  readonly pod: Pod;
  readonly effective: Effective;
  readonly components: Components;
}

type Rule = (facts: Facts) => string | undefined;

const noRedirection = 'set authBridgeMode: proxy-sidecar on the AgentRuntime, which needs no traffic redirection';

/** In this order; the first that speaks decides. */
const rules: readonly (readonly [Reason, Rule])[] = Object.freeze([
  ['UnsupportedOS', unsupportedOs],
  ['ContainerNameTaken', containerNameTaken],
  ['HostNetworkConflict', hostNetwork],
  ['PodSecurityConflict', podSecurity],
  ['SpiffeUnavailable', strictWithoutSpiffe],
  ['ProxyUidTaken', proxyUidTaken],
]);

/** The one rule that also holds where nothing would be injected: strict mutual TLS is never quietly dropped for want of a driver. */
export function strictConflict(facts: Facts): Refusal | undefined {
  const note = strictWithoutSpiffe(facts);
  return note === undefined ? undefined : { reason: 'SpiffeUnavailable', note };
}

/** The first conflict of a pod that is about to be injected. */
export function conflictOf(facts: Facts): Refusal | undefined {
  for (const [reason, rule] of rules) {
    const note = rule(facts);
    if (note !== undefined) return { reason, note };
  }
  return undefined;
}

function redirects({ components }: Facts): boolean {
  return components.containers[containers.proxyInit].inject;
}

function unsupportedOs({ pod }: Facts): string | undefined {
  const { os }: Pod['spec'] & { readonly os?: { readonly name?: string } } = pod.spec;
  if (os?.name === undefined || os.name === 'linux') return undefined;
  return `the pod runs on ${os.name}, for which there are no sidecars; label its template rossoctl.io/inject: disabled`;
}

function containerNameTaken({ pod }: Facts): string | undefined {
  const [name] = ourNamesIn(pod);
  return name && `the pod has a container of its own named ${name}, which is the name of an injected one; rename it`;
}

function hostNetwork(facts: Facts): string | undefined {
  if (!redirects(facts) || facts.pod.spec.hostNetwork !== true) return undefined;
  return `the pod uses the host's network, and proxy-init would redirect the node's traffic; ${noRedirection}, or remove hostNetwork`;
}

function podSecurity(facts: Facts): string | undefined {
  const { snapshot, effective, components } = facts;
  const level = restrictingLevel(snapshot.namespaceLabels);
  if (level === undefined) return undefined;
  const where = `namespace ${snapshot.namespace} enforces Pod Security "${level}" (PodSecurityConflict), which forbids`;
  if (redirects(facts)) return `${where} proxy-init its capabilities NET_ADMIN and NET_RAW; ${noRedirection}`;
  if (!components.spiffe.inject || effective.config.spiffe.volume === 'csi') return undefined;
  return `${where} hostPath volumes; set spiffe.volume: csi in the platform configuration`;
}

function strictWithoutSpiffe({ snapshot, pod, effective, components }: Facts): string | undefined {
  if (effective.config.mtls.mode !== 'strict' || components.spiffe.inject) return undefined;
  if (lacksCsiDriver(pod, effective, snapshot.csiDriver)) {
    return `mtlsMode strict needs a SPIFFE identity, but the cluster has no CSI driver ${spiffeCsiDriver}; install SPIRE with it, or set mtlsMode: permissive`;
  }
  if (!components.containers[containers.envoyProxy].inject) return undefined;
  return `mtlsMode strict needs a SPIFFE identity, but ${components.spiffe.reason}; turn it on, or set mtlsMode: permissive`;
}

function proxyUidTaken(facts: Facts): string | undefined {
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

/** A mesh's proxy that shares our user is left alone; what it sends on is not redirected a second time. */
export function meshWarnings({ pod, effective, components }: Facts): readonly string[] {
  if (!components.containers[containers.proxyInit].inject) return [];
  const { uid } = effective.config.proxy;
  const shared = [...(pod.spec.initContainers ?? []), ...pod.spec.containers].find(
    ({ name, securityContext }) => meshContainers.includes(name) && securityContext?.runAsUser === uid,
  );
  return shared === undefined
    ? []
    : [
        `container ${shared.name} runs as user ${uid} like the proxy, so what it sends does not pass envoy-proxy; set another proxy.uid in the platform configuration to capture it`,
      ];
}
