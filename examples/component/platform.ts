/** What a team's program learns from the platform's stack. */

import { getOrganization, StackReference } from '@pulumi/pulumi';

/** Output `platform` of the platform's stack, as far as it matters here. */
export interface Platform {
  /** Name of the platform's environment. */
  readonly environment: string;
  /** Namespaces that the operator sees; absent: every one. */
  readonly watched?: readonly string[];
  /** Whether images must be given by digest. */
  readonly requireImageDigest: boolean;
}

/**
 * Asks the stack `PROJECT/STACK` of one's own organization. Awaited, not an `Output`: what it says decides which resources there are.
 * Throws when that stack has no such output.
 */
export async function readPlatform(name: string): Promise<Platform> {
  const { value } = await new StackReference(`${getOrganization()}/${name}`).getOutputDetails('platform');
  if (isPlatform(value)) return value;
  throw new Error(`stack ${name} has no output platform: run pulumi up there first, or name the stack of a platform`);
}

function isPlatform(value: unknown): value is Platform {
  return typeof value === 'object' && value !== null && 'environment' in value && 'requireImageDigest' in value;
}
