/** The platform that a team's stack refers to. */

import { getOrganization, getProject, runtime } from '@pulumi/pulumi';
import type { PlatformFacts } from './platform-facts.ts';
import { SettingsError } from './settings.ts';

/**
 * The facts that the platform's stack has as output. `name` is that of the stack: alone, in this project; `project/stack`; or
 * `organization/project/stack`. Throws `SettingsError` when there is no such stack, and when it has none because it was not deployed or is no
 * platform's.
 */
export async function referencedPlatform(name: string): Promise<PlatformFacts> {
  const full = qualified(name);
  const { platform } = await outputsOf(full);
  if (isFacts(platform)) return known(platform);
  throw new SettingsError(
    `stack ${full} has no output platform: run pulumi up there first, or name the stack of a platform`,
  );
}

interface Stack {
  readonly outputs?: Readonly<Record<string, unknown>>;
}

/** What a StackReference asks for too; but of a stack that there is not, that one ends the whole run with no word of ours. */
async function outputsOf(name: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const { outputs = {} } = (await runtime.invoke('pulumi:pulumi:readStackOutputs', { name })) as Stack;
    return outputs;
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause);
    const problem = said.includes('unknown stack')
      ? `there is no stack ${name}: run pulumi stack init and pulumi up there first, or name the stack of a platform`
      : `the outputs of stack ${name} cannot be read: ${said}`;
    throw new SettingsError(problem, { cause });
  }
}

function qualified(name: string): string {
  const parts = name.split('/');
  return [...[getOrganization(), getProject()].slice(0, 3 - parts.length), ...parts].join('/');
}

/** Whoever wrote it, at whatever release: the one property that no refusal can do without. */
function isFacts(value: unknown): value is PlatformFacts {
  return typeof value === 'object' && value !== null && 'environment' in value && 'namespace' in value;
}

/** Of what pods get only what this release knows: a platform that was upgraded first may say more. */
function known({ injects, ...facts }: PlatformFacts): PlatformFacts {
  const { agent = true, tool = false, namespaces } = (injects as PlatformFacts['injects'] | undefined) ?? {};
  return { ...facts, injects: { agent, tool, ...(namespaces === undefined ? {} : { namespaces }) } };
}
