/** The platform that a team's stack refers to. */

import { getOrganization, getProject, StackReference } from '@pulumi/pulumi';
import type { PlatformFacts } from './platform-facts.ts';
import { SettingsError } from './settings.ts';

/**
 * The facts that the platform's stack has as output. `name` is that of the stack: alone, in this project; `project/stack`; or
 * `organization/project/stack`. Throws `SettingsError` when it has none, because it was not deployed or is no platform's.
 */
export async function referencedPlatform(name: string): Promise<PlatformFacts> {
  const full = qualified(name);
  const { value } = await new StackReference(full).getOutputDetails('platform');
  if (isFacts(value)) return value;
  throw new SettingsError(
    `stack ${full} has no output platform: run pulumi up there first, or name the stack of a platform`,
  );
}

function qualified(name: string): string {
  const parts = name.split('/');
  return [...[getOrganization(), getProject()].slice(0, 3 - parts.length), ...parts].join('/');
}

/** Whoever wrote it, at whatever release: the one property that no refusal can do without. */
function isFacts(value: unknown): value is PlatformFacts {
  return typeof value === 'object' && value !== null && 'environment' in value && 'namespace' in value;
}
