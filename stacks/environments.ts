/** The environments that have a settings file, and how one is read. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { suggestion } from '../runtime/config/suggest.ts';
import { platformFacts, type PlatformFacts } from './platform-facts.ts';
import { type Overrides, parseSettings, type Settings, SettingsError } from './settings.ts';

const here = import.meta.dirname;
const fileName = /^Pulumi\.([a-z0-9-]+)\.yaml$/;

/** Names of all environments, sorted. */
export function environments(): readonly string[] {
  return readdirSync(here)
    .flatMap((file) => fileName.exec(file)?.[1] ?? [])
    .sort();
}

/** Settings of one environment from `stacks/Pulumi.<environment>.yaml`. Throws `SettingsError`. */
export function readSettings(environment: string, overrides: Overrides = {}): Settings {
  const file = path.join(here, `Pulumi.${environment}.yaml`);
  if (!fileName.test(path.basename(file)) || !existsSync(file)) {
    const known = environments();
    const close = suggestion(environment, known);
    const hint = close === undefined ? `there are ${known.join(', ')}` : `did you mean ${close}?`;
    throw new SettingsError(`no environment ${JSON.stringify(environment)}: ${hint}`);
  }
  return parseSettings(readFileSync(file, 'utf8'), `stacks/${path.basename(file)}`, { ...overrides, environment });
}

/**
 * What the environment's file says of the platform that the settings are for; undefined for a platform's own. Throws `SettingsError`, also
 * where the file is none of a platform.
 */
export function readPlatformFacts(of: Settings): PlatformFacts | undefined {
  if ('platform' in of) return undefined;
  const { platform: environment } = of.agents;
  // No fact depends on the image, which may be given only when the platform is installed.
  const settings = readSettings(environment, { image: anyImage });
  if ('platform' in settings) return platformFacts(environment, settings.platform);
  throw new SettingsError(`platform: ${environment} is itself a layer of agents: name the one of their platform`);
}

const anyImage = `rossoctl@sha256:${'0'.repeat(64)}`;
