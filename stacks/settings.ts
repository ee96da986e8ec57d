/** A stack's configuration → the settings of that environment; anything unknown, secret or unfit is refused with its path. */

import { violationsOf } from '../runtime/config/check.ts';
import { problemOf, type Violation } from '../runtime/config/problem.ts';
import { suggestion } from '../runtime/config/suggest.ts';
import { readYaml } from '../runtime/config/yaml-tree.ts';
import { settingsViolations } from './settings-rules.ts';
import { ClusterSettings, PlatformSettings } from './settings-schema.ts';

/** Settings of one environment. */
export interface Settings {
  readonly environment: string;
  /** As written, with overrides applied; checked, so that `image` is there and fit. */
  readonly platform: PlatformSettings & { readonly image: string };
  /** What only Pulumi needs to know; no manifest depends on it. */
  readonly cluster?: ClusterSettings;
}

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
/** The keys of ours in a stack's configuration, and what they hold. */
const sections = { [platformKey]: PlatformSettings, 'rossoctl:cluster': ClusterSettings } as const;
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
 * The settings in a stack's configuration: `{ config: { 'rossoctl:platform': …, 'rossoctl:cluster': … } }`. Throws `SettingsError` on
 * anything unknown (with the key that was probably meant), on a `secure:` value (manifests only name Secrets, so a secret here would end
 * up in plain text), and on an image that is missing or, with `requireImageDigest`, not pinned.
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
  refuseAny([...shapeViolations(root), ...secretViolations(root, '')]);
  const written = sectionAt(sectionAt(root, 'config'), platformKey) as PlatformSettings;
  refuseAny(settingsViolations(written).map((violation) => below(violation, platformPath)));
  const image = overrides.image ?? written.image;
  const problem = imageProblem(image, written.requireImageDigest ?? false);
  if (image === undefined || problem !== undefined) {
    throw refused(where, [{ path: `${platformPath}.image`, message: problem ?? 'missing' }]);
  }
  const cluster = sectionAt(sectionAt(root, 'config'), 'rossoctl:cluster') as ClusterSettings;
  return { environment: overrides.environment, platform: { ...written, image }, cluster };
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
    ...Object.entries(sections).flatMap(([key, schema]) =>
      violationsOf(schema, config[key] ?? {}).map((violation) => below(violation, `config.${key}`)),
    ),
  ];
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

/** Pulumi writes an encrypted value as `secure: …`. */
function secretViolations(value: unknown, path: string): readonly Violation[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => secretViolations(item, `${path}[${index}]`));
  if (!isSection(value)) return [];
  if (path.startsWith(platformPath) && 'secure' in value) {
    return [
      { path, message: 'is a secret; manifests only name Secrets: create the Secret apart and write its name here' },
    ];
  }
  return Object.entries(value).flatMap(([key, below]) => secretViolations(below, path === '' ? key : `${path}.${key}`));
}

const byDigest = /^[^\s@]+@sha256:[0-9a-f]{64}$/;

function imageProblem(image: string | undefined, requireDigest: boolean): string | undefined {
  const remedy = requireDigest ? 'registry/rossoctl@sha256:<64 hex digits>' : 'registry/rossoctl:VERSION';
  if (image === undefined) return `is not set; write it here or give --image ${remedy}`;
  const [malformed] = violationsOf(PlatformSettings, { image });
  if (malformed !== undefined) return malformed.message;
  if (requireDigest && !byDigest.test(image)) {
    return `${JSON.stringify(image)} is not pinned by digest, which this environment requires; use ${remedy}`;
  }
  return undefined;
}
