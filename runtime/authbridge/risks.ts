/** Warnings about pods that are injected and whose owners weaken that, or themselves, by what admission can see. */

import type { Container } from '../api/kubernetes.ts';
import { annotations, containers } from '../api/names.ts';
import { meshContainers } from '../config/conflicts.ts';
import { portExclusions } from '../config/port-exclusions.ts';
import type { Facts } from './conflicts.ts';
import { portOf } from './probes.ts';

/** Each says which container or field, what follows, and what to do. Empty where nothing redirects the pod's traffic. */
export function riskWarnings(facts: Facts): readonly string[] {
  if (!facts.components.containers[containers.proxyInit].inject) return [];
  return [...tlsProbes(facts), ...hooks(facts), ...sharedProcesses(facts), ...strongContainers(facts)];
}

function ownContainers({ pod }: Facts): readonly Container[] {
  return [...(pod.spec.initContainers ?? []), ...pod.spec.containers].filter(
    ({ name }) => !meshContainers.includes(name),
  );
}

/** The kubelet shows no certificate, so the proxy refuses it, and could not see the path if it did not. */
function tlsProbes(facts: Facts): readonly string[] {
  const open = excluded(facts);
  return ownContainers(facts).flatMap((container) => {
    const { startupProbe, livenessProbe, readinessProbe } = container;
    const ports = [startupProbe, livenessProbe, readinessProbe].flatMap((probe) =>
      probe?.httpGet?.scheme?.toUpperCase() === 'HTTPS' ? [portOf(probe.httpGet.port, container)] : [],
    );
    const asked = [...new Set(ports)].filter((port) => port !== undefined && !open.includes(port));
    return asked.map(
      (port) =>
        `container ${container.name} is probed at port ${port} by HTTPS, which the proxy cannot look into and refuses; exclude the port by the annotation ${annotations.inboundPortsExclude}, or probe by HTTP`,
    );
  });
}

function excluded({ pod }: Facts): readonly number[] {
  const exclusions = portExclusions(pod.metadata.annotations);
  return exclusions.ok ? exclusions.inbound : [];
}

/** The kubelet shows no token, and what a hook asks for does something: it is no probe, which everybody may ask for. */
function hooks(facts: Facts): readonly string[] {
  const open = excluded(facts);
  return ownContainers(facts).flatMap((container) =>
    (['postStart', 'preStop'] as const).flatMap((hook) => {
      const asked = container.lifecycle?.[hook]?.httpGet;
      const port = asked === undefined || asked.host ? undefined : portOf(asked.port, container);
      if (port === undefined || open.includes(port)) return [];
      return [
        `container ${container.name} has a ${hook} hook that asks port ${port} without a token, which the proxy refuses unless everybody may ask for its path; exclude the port by the annotation ${annotations.inboundPortsExclude}, or let the hook run a command`,
      ];
    }),
  );
}

function sharedProcesses({ pod }: Facts): readonly string[] {
  if (pod.spec.shareProcessNamespace !== true) return [];
  return [
    'shareProcessNamespace is true, so a container of the pod that is root or may trace reads the tokens and keys of the sidecar; leave it out',
  ];
}

/** With these a container removes the rules, or sends as the proxy or the mesh does, or reads the proxy's memory. */
const strong: readonly string[] = ['ALL', 'NET_ADMIN', 'NET_RAW', 'SETUID', 'SYS_ADMIN', 'SYS_PTRACE'];

function strongContainers(facts: Facts): readonly string[] {
  return ownContainers(facts).flatMap((container) => {
    const why = strengthOf(container, facts.pod.spec.securityContext?.runAsUser);
    return why === undefined
      ? []
      : [
          `container ${container.name} ${why}, with which its calls can leave past the proxy; use another user than 0 and capabilities.drop: [ALL]`,
        ];
  });
}

function strengthOf({ securityContext = {} }: Container, podUser: number | undefined): string | undefined {
  const { privileged, capabilities, runAsUser = podUser } = securityContext;
  if (privileged === true) return 'is privileged';
  const added = (capabilities?.add ?? []).find((name) => strong.includes(name.replace(/^CAP_/, '')));
  if (added !== undefined) return `has the capability ${added}`;
  const dropsAll = capabilities?.drop?.includes('ALL') === true;
  return runAsUser === 0 && !dropsAll ? 'runs as root and keeps the capabilities SETUID and NET_RAW' : undefined;
}
