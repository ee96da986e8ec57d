/** The configuration of the running stack → the settings of its environment. */

import { getStack, runtime } from '@pulumi/pulumi';
import { isProviderKey } from './provider-keys.ts';
import { type Settings, SettingsError, settingsKeys, settingsOf } from './settings.ts';

/** Throws `SettingsError`, also on a value that Pulumi keeps encrypted. */
export function pulumiSettings(): Settings {
  const environment = getStack();
  const where = `the configuration of stack ${environment}`;
  const all = Object.entries(runtime.allConfig());
  const ours = all.filter(([key]) => key.startsWith('rossoctl:') || isProviderKey(key));
  const [hidden] = ours.map(([key]) => key).filter((key) => !isProviderKey(key) && secretKeys().includes(key));
  if (hidden !== undefined) {
    throw new SettingsError(
      `${where}: ${hidden} is a secret; manifests only name Secrets: create the Secret apart and write its name here`,
    );
  }
  const config = Object.fromEntries(ours.map(([key, value]) => [key, valueOf(key, value)]));
  return settingsOf({ config }, where, { environment });
}

/** Pulumi tells a program which of its values it keeps encrypted, but has no public function that says so. */
function secretKeys(): readonly string[] {
  return JSON.parse(process.env['PULUMI_CONFIG_SECRET_KEYS'] ?? '[]') as readonly string[];
}

/** Sections arrive as JSON. */
function valueOf(key: string, text: string): unknown {
  if (!settingsKeys.includes(key)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
