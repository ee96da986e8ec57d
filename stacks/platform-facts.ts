/** What a team's agents must know of the platform they run on, and what they can get wrong about it. */

import { lacksIdentity } from '../constructs/strict-mtls.ts';
import { agentNamespaceViolations } from '../constructs/watched-namespaces.ts';
import { install } from '../runtime/api/names.ts';
import { gateDefaults } from '../runtime/config/feature-gates.ts';
import type { Violation } from '../runtime/config/violation.ts';
import { pinningProblem } from './image-pinning.ts';
import type { AgentsSettings, PlatformSettings } from './settings-schema.ts';

/** The platform's stack has it as its output `platform`. */
export interface PlatformFacts {
  readonly environment: string;
  /** Namespace of the operator. */
  readonly namespace: string;
  /** What the operator sees; absent: every namespace. */
  readonly watched?: readonly string[];
  /** Whether images must be pinned by digest. */
  readonly requireImageDigest: boolean;
  /** Of which types a workload with `mtlsMode: strict` would be refused, as its pods get no identity; absent: of none. */
  readonly refusesStrict?: readonly ('agent' | 'tool')[];
  /** Whose pods get sidecars, as far as the install says: by the feature gates, and where namespaces opt in, in those that it labels. */
  readonly injects: {
    readonly agent: boolean;
    readonly tool: boolean;
    /** Absent: in every namespace. */
    readonly namespaces?: readonly string[];
  };
}

/** The facts that an environment's settings make. */
export function platformFacts(environment: string, settings: PlatformSettings): PlatformFacts {
  const { namespace = install.namespace, mode = 'cluster', namespaces = [], requireImageDigest = false } = settings;
  const watched = mode === 'cluster' ? {} : { watched: namespaces.map(({ name }) => name) };
  const { globalEnabled, injectTools } = { ...gateDefaults, ...settings.featureGates };
  const labelled = namespaces.filter(({ create }) => create !== false).map(({ name }) => name);
  const injects = {
    agent: globalEnabled,
    tool: globalEnabled && injectTools,
    ...(settings.requireNamespaceLabel === true ? { namespaces: labelled } : {}),
  };
  const withoutIdentity = (['agent', 'tool'] as const).filter((type) => lacksIdentity(settings.featureGates, type));
  const strict = withoutIdentity.length === 0 ? {} : { refusesStrict: withoutIdentity };
  return { environment, namespace, requireImageDigest, injects, ...watched, ...strict };
}

/** What is wrong with agents on this platform, by paths below their section. */
export function agentsViolations(agents: AgentsSettings, platform: PlatformFacts): readonly Violation[] {
  return [
    ...namespaceViolations(agents, platform),
    ...imageViolations(agents, platform),
    ...strictRuntimes(agents, platform),
  ];
}

function namespaceViolations({ namespace }: AgentsSettings, platform: PlatformFacts): readonly Violation[] {
  const { environment, watched } = platform;
  const found = agentNamespaceViolations(namespace, platform.namespace, 'namespace', 'choose another');
  if (found.length > 0 || watched === undefined || watched.includes(namespace)) return found;
  const message = `${namespace} is not watched by the platform ${environment}, which watches ${watched.join(', ')}: add it to namespaces there, or choose one of those`;
  return [{ path: 'namespace', message }];
}

function imageViolations(
  { agents = {}, tools = {} }: AgentsSettings,
  { environment, requireImageDigest }: PlatformFacts,
): readonly Violation[] {
  if (!requireImageDigest) return [];
  return Object.entries({ agents, tools }).flatMap(([section, members]) =>
    Object.entries(members).flatMap(([name, { image }]) => {
      const problem = pinningProblem(image, `the platform ${environment}`);
      return problem === undefined ? [] : [{ path: `${section}.${name}.image`, message: problem }];
    }),
  );
}

function strictRuntimes(
  { agents = {}, tools = {} }: AgentsSettings,
  { environment, refusesStrict = [] }: PlatformFacts,
): readonly Violation[] {
  const ofType = { agents: 'agent', tools: 'tool' } as const;
  const message = `strict needs an identity, which no pod gets on the platform ${environment}, so every pod would be refused: leave it out, or have featureGates.spiffeHelper set true there`;
  return Object.entries({ agents, tools }).flatMap(([section, members]) =>
    Object.entries(members)
      .filter(() => refusesStrict.includes(ofType[section as keyof typeof ofType]))
      .filter(([, { runtime }]) => runtime?.mtlsMode === 'strict')
      .map(([name]) => ({ path: `${section}.${name}.runtime.mtlsMode`, message })),
  );
}
