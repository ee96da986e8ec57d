/** Values that are each valid and together break every pod: two ports alike, a request above its limit, or mutual TLS that is asked for where it is off. */

import type { AgentRuntime } from '../api/agent-runtime.ts';
import { agentRuntimeLayer, fieldOf } from './agent-runtime-layer.ts';
import type { Effective, Layer, LayerProblem, Layers, LayerSource } from './layers.ts';
import { mergeLayers } from './merge.ts';
import type { PartialConfig, PlatformConfig } from './platform.ts';
import { problemOf } from './problem.ts';
import { isAbove } from './quantity.ts';

export interface Consistent {
  readonly config: readonly Layer<PartialConfig>[];
  readonly problems: readonly LayerProblem[];
}

/** Two leaves that cannot both stand, with the sentence for whichever of them was set last. */
interface Clash {
  readonly paths: readonly [string, string];
  message(other: string): string;
}

/**
 * Drops, with a problem, each layer that makes the merged configuration contradict itself: the one that set one of the two values last,
 * since without it they agreed. Kubernetes would refuse the pods, or Envoy would not start, in every workload of the namespace.
 */
export function consistent(config: readonly Layer<PartialConfig>[]): Consistent {
  const effective = mergeLayers({ config, gates: [], problems: [], warnings: [] });
  for (const clash of clashes.flatMap((of) => of(effective.config))) {
    const blamed = lastToSet(config, effective, clash.paths);
    if (blamed === undefined) continue;
    const { layer, path, other, otherSource } = blamed;
    const message = clash.message(`${other} (${otherSource.where})`);
    const rest = consistent(config.filter((each) => each !== layer));
    const at = layer.source.layer === 'agent-runtime' ? fieldOf(path) : path;
    return { config: rest.config, problems: [problemOf(layer.source, [{ path: at, message }]), ...rest.problems] };
  }
  return { config, problems: [] };
}

/** The layer of an AgentRuntime above these, or why it is none: by itself, or because what it sets contradicts what stands below it. */
export function agentRuntimeOver(layers: Layers, runtime: AgentRuntime): Layer<PartialConfig> | LayerProblem {
  const own = agentRuntimeLayer(runtime);
  if ('message' in own || own.values.mtls === undefined) return own;
  return consistent([...layers.config, own]).problems.find(({ source }) => source === own.source) ?? own;
}

const clashes: readonly ((config: PlatformConfig) => readonly Clash[])[] = [
  portClashes,
  limitClashes,
  mtlsClashes,
  registrationClashes,
];

function portClashes({ proxy }: PlatformConfig): readonly Clash[] {
  const { outboundPort, inboundPort, adminPort, healthPort } = proxy;
  const ports = Object.entries({ outboundPort, inboundPort, adminPort, healthPort });
  return ports.flatMap(([name, port], i) =>
    ports
      .slice(i + 1)
      .filter(([, other]) => other === port)
      .map(([other]) => ({
        paths: [`proxy.${name}`, `proxy.${other}`] as const,
        message: (where: string) => `${port} is also ${where}; each needs a port of its own`,
      })),
  );
}

function limitClashes({ resources }: PlatformConfig): readonly Clash[] {
  return Object.entries(resources).flatMap(([component, { requests, limits }]) =>
    Object.entries(requests).flatMap(([name, request]) => {
      const limit = limits[name];
      if (limit === undefined || !isAbove(request, limit)) return [];
      const section = `resources.${component}`;
      return [
        {
          paths: [`${section}.requests.${name}`, `${section}.limits.${name}`] as const,
          message: (where: string) => `the request ${request} is above the limit ${limit}; see also ${where}`,
        },
      ];
    }),
  );
}

/** Each call to that host would be refused: it is never sent in plain HTTP instead. */
function mtlsClashes({ mtls, tokenExchange }: PlatformConfig): readonly Clash[] {
  const at = tokenExchange.routes.findIndex((route) => route.mtls === 'required');
  if (mtls.mode !== 'disabled' || at === -1) return [];
  return [
    {
      paths: ['mtls.mode', 'tokenExchange.routes'],
      message: (where) => `tokenExchange.routes[${at}].mtls is required, and mtls.mode is disabled; see also ${where}`,
    },
  ];
}

function registrationClashes({ identity, clientRegistration }: PlatformConfig): readonly Clash[] {
  if (clientRegistration.mode !== 'sidecar' || identity.clientAuth !== 'spiffe') return [];
  return [
    {
      paths: ['clientRegistration.mode', 'identity.clientAuth'],
      message: (where) =>
        `a pod registers a client with a secret, and with identity.clientAuth spiffe there is none; set clientRegistration.mode: operator; see also ${where}`,
    },
  ];
}

interface Blamed {
  readonly layer: Layer<PartialConfig>;
  readonly path: string;
  readonly other: string;
  readonly otherSource: LayerSource;
}

function lastToSet(
  config: readonly Layer<PartialConfig>[],
  { origins }: Effective,
  [a, b]: readonly [string, string],
): Blamed | undefined {
  const rank = (path: string) => config.findIndex(({ source }) => source === origins.get(path));
  const [path, other] = rank(a) >= rank(b) ? [a, b] : [b, a];
  const layer = config[rank(path)];
  const otherSource = origins.get(other);
  return layer === undefined || otherSource === undefined ? undefined : { layer, path, other, otherSource };
}
