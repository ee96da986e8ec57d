/** The settings of a team with many agents. */

import type { AgentsSettings } from '../../stacks/settings-schema.ts';

/** `count` agents as a team would write them, in namespace team1 of platform `bench`. */
export function teamOf(count: number): AgentsSettings {
  // No more of each: Pulumi hands a program its configuration in one variable, which holds 128 KiB on Linux.
  const agent = (index: number) => ({ image: `registry.example/agent-${index}:1.0.0`, user: 1000, replicas: 0 });
  const agents = Object.fromEntries(Array.from({ length: count }, (_, index) => [`agent-${index}`, agent(index)]));
  return { platform: 'bench', namespace: 'team1', agents };
}
