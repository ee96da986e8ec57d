/** A stack's configuration → the settings of that environment; anything unknown, secret or unfit is refused with its path. */

import { type TSchema, Type } from 'typebox';
import { violationsOf } from '../runtime/config/check.ts';
import { problemOf } from '../runtime/config/problem.ts';
import type { Violation } from '../runtime/config/violation.ts';
import { suggestion } from '../runtime/config/suggest.ts';
import { readYaml } from '../runtime/config/yaml-tree.ts';
import { injectedImageViolations, pinningProblem } from './image-pinning.ts';
import { providerKeyViolations } from './provider-keys.ts';
import { agentNamesViolations, settingsViolations } from './settings-rules.ts';
import { AgentsSettings, ClusterSettings, PlatformSettings } from './settings-schema.ts';

interface Environment {
  readonly environment: string;
  /** What messages call the text that the settings were read from; absent where a program made them. */
  readonly where?: string;
  /** What only Pulumi needs to know; no manifest depends on it. */
  readonly cluster?: ClusterSettings;
}

/** The layer `platform`: what a platform team installs. */
export interface PlatformLayer extends Environment {
  /** As written, with overrides applied; checked, so that `image` is there and fit. */
  readonly platform: PlatformSettings & { readonly image: string };
}

/** The layer `agents`: what one team runs on a platform that is there. */
export interface AgentsLayer extends Environment {
  readonly agents: AgentsSettings;
}

/** Settings of one environment: it has one layer. */
export type Settings = PlatformLayer | AgentsLayer;

/** What a caller sets on top of the file. */
export interface Overrides {
  readonly image?: string | undefined;
}

/** Settings that cannot be used; `message` names file, line, path and remedy. */
export class SettingsError extends Error {
  readonly code = 'Settings';
}

const platformKey = 'rossoctl:platform';
const platformPath = `config.${platformKey}`;
const agentsKey = 'rossoctl:agents';
const clusterKey = 'rossoctl:cluster';
/** The keys of ours in a stack's configuration, and what they hold. */
const sections = {
  [platformKey]: PlatformSettings,
  [agentsKey]: AgentsSettings,
  [clusterKey]: ClusterSettings,
} as const;
/** The same, for whoever reads them from elsewhere than a file. */
export const settingsKeys = Object.keys(sections);

/** What Pulumi itself keeps beside `config`. */
const topLevelKeys = ['config', 'secretsprovider', 'encryptionsalt', 'encryptedkey', 'environment'];

type Section = Readonly<Record<string, unknown>>;
const isSection = (value: unknown): value is Section =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parses one environment's file. `where` is what messages call it. Throws what `settingsOf` throws, with lines. */
export function parseSettings(text: string, where: string, overrides: Wanted): Settings {
  const tree = readYaml(text);
  if (!('lineOf' in tree)) throw refused(where, tree);
  return settingsOf(tree.value ?? {}, where, overrides, (path) => tree.lineOf(path));
}

type Wanted = Overrides & { readonly environment: string };

/**
 * The settings in a stack's configuration: `{ config: { 'rossoctl:platform': … } }` or `{ config: { 'rossoctl:agents': … } }`, beside
 * `rossoctl:cluster`. Throws `SettingsError` on anything unknown (with the key that was probably meant), on a `secure:` value (manifests
 * only name Secrets, so a secret here would end up in plain text), on both layers at once, on an operator image that is missing and, with
 * `requireImageDigest`, on an image that is not pinned: the operator's or one that is injected.
 */
export function settingsOf(
  root: unknown,
  where: string,
  overrides: Wanted,
  lineOf: (path: string) => number | undefined = () => undefined,
): Settings {
  const refuseAny = (found: readonly Violation[]) => {
    const violations = found.map((violation) => ({ ...violation, line: lineOf(violation.path) }));
    if (violations.length > 0) throw refused(where, violations);
  };
  const secrets = secretViolations(root, '');
  refuseAny([
    ...secrets,
    ...shapeViolations(root).filter(({ path }) => !secrets.some((each) => isAtOrBelow(path, each))),
  ]);
  const config = sectionAt(root, 'config');
  const cluster = sectionAt(config, clusterKey) as ClusterSettings;
  const { environment } = overrides;
  if (agentsKey in config) {
    const agents = sectionAt(config, agentsKey) as AgentsSettings;
    const named = agentNamesViolations(agents).map((violation) => below(violation, `config.${agentsKey}`));
    refuseAny([...layerViolations(config), ...missingIn(agents), ...named]);
    return { environment, where, agents, cluster };
  }
  const written = sectionAt(config, platformKey) as PlatformSettings;
  refuseAny(settingsViolations(written).map((violation) => below(violation, platformPath)));
  if (written.requireImageDigest === true) {
    const injected = injectedImageViolations(written.config ?? {}, 'this environment');
    refuseAny(injected.map((violation) => below(violation, platformPath)));
  }
  const image = overrides.image ?? written.image;
  const problem = imageProblem(image, written.requireImageDigest ?? false);
  if (image === undefined || problem !== undefined) {
    throw refused(where, [{ path: `${platformPath}.image`, message: problem ?? 'missing' }]);
  }
  return { environment, where, platform: { ...written, image }, cluster };
}

/** Why settings of the right shape cannot be used on a platform; `violations` by paths below the agents' section. */
export function refusedAgents(where: string, violations: readonly Violation[]): SettingsError {
  return refused(
    where,
    violations.map((violation) => below(violation, `config.${agentsKey}`)),
  );
}

function layerViolations(config: Section): readonly Violation[] {
  if (!(platformKey in config)) return [];
  const message = `stands beside ${platformKey}: they are layers of their own; give each its own stack, or no team could remove its agents alone`;
  return [{ path: `config.${agentsKey}`, message }];
}

const requiredOfAgents = {
  platform: 'name the environment of the platform, for example dev',
  namespace: 'name the namespace of the agents, for example team1',
} as const;

function missingIn(agents: Partial<AgentsSettings>): readonly Violation[] {
  return Object.entries(requiredOfAgents)
    .filter(([key]) => !(key in agents))
    .map(([key, remedy]) => ({ path: `config.${agentsKey}.${key}`, message: `is not set: ${remedy}` }));
}

function refused(where: string, violations: readonly Violation[]): SettingsError {
  return new SettingsError(problemOf({ layer: 'file', where }, violations).message);
}

function sectionAt(value: unknown, key: string): Section {
  const below = isSection(value) ? value[key] : undefined;
  return isSection(below) ? below : {};
}

function shapeViolations(root: unknown): readonly Violation[] {
  if (!isSection(root)) return [{ path: '', message: `must be a section with config: ${platformKey}: …` }];
  const config = root['config'] ?? {};
  if (!isSection(config)) return [{ path: 'config', message: `must be a section with ${platformKey}: …` }];
  const ours = Object.keys(config).filter((key) => !key.includes(':') || key.startsWith('rossoctl:'));
  return [
    ...unknownKeys(Object.keys(root), topLevelKeys, ''),
    ...unknownKeys(ours, settingsKeys, 'config.'),
    ...providerKeyViolations(Object.keys(config)).map((violation) => below(violation, 'config')),
    ...Object.entries(sections).flatMap(([key, schema]) =>
      sectionViolations(key, schema, config[key] ?? {}).map((violation) => below(violation, 'config')),
    ),
  ];
}

/** By paths below `config`. What is no section at all is said of its key, since it is not the whole document. */
function sectionViolations(key: string, schema: TSchema, value: unknown): readonly Violation[] {
  if (!isSection(value)) return violationsOf(Type.Object({ [key]: schema }), { [key]: value });
  return violationsOf(schema, value).map((violation) => below(violation, key));
}

/** A violation of a section, by its path in the file. */
function below({ path, message }: Violation, section: string): Violation {
  return { path: path === '' ? section : `${section}.${path}`, message };
}

function unknownKeys(keys: readonly string[], known: readonly string[], prefix: string): readonly Violation[] {
  return keys
    .filter((key) => !known.includes(key))
    .map((key) => {
      const close = suggestion(key, known);
      const hint = close === undefined ? `allowed are ${known.join(', ')}` : `did you mean ${close}?`;
      return { path: `${prefix}${key}`, message: `unknown key; ${hint}` };
    });
}

/** What an encrypted value's shape is compared with is of no interest: it has to go. */
function isAtOrBelow(path: string, { path: above }: Violation): boolean {
  return path === above || path.startsWith(`${above}.`);
}

/** Pulumi writes an encrypted value as a section of its own with the one key `secure`; an agent may be called so too. */
function isEncrypted(value: Section): boolean {
  return Object.keys(value).length === 1 && typeof value['secure'] === 'string';
}

function secretViolations(value: unknown, path: string): readonly Violation[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => secretViolations(item, `${path}[${index}]`));
  if (!isSection(value)) return [];
  if (path.startsWith('config.rossoctl:') && isEncrypted(value)) {
    return [
      { path, message: 'is a secret; manifests only name Secrets: create the Secret apart and write its name here' },
    ];
  }
  return Object.entries(value).flatMap(([key, below]) => secretViolations(below, path === '' ? key : `${path}.${key}`));
}

function imageProblem(image: string | undefined, requireDigest: boolean): string | undefined {
  const remedy = requireDigest ? 'registry/rossoctl@sha256:<64 hex digits>' : 'registry/rossoctl:VERSION';
  if (image === undefined) return `is not set; write it here or give --image ${remedy}`;
  const [malformed] = violationsOf(PlatformSettings, { image });
  if (malformed !== undefined) return malformed.message;
  return requireDigest ? pinningProblem(image, 'this environment') : undefined;
}
