/** The user that the proxy runs as is nobody else's: what it sends is not redirected, so an agent under it would go past the proxy. */

import { compiledDefaults } from '../runtime/config/platform.ts';
import { Agent, Tool } from './agent.ts';
import type { Supply } from './demands.ts';
import { containersOf, type Json, podsOf, valuesAt } from './pods.ts';

/** A sentence for each agent and tool of the app that the platform watches and that runs as its proxy's user, with path and remedy. */
export function proxyUserTaken(platform: Supply, uid: number = compiledDefaults.proxy.uid): readonly string[] {
  const message = `${uid} is the proxy's own user (config.proxy.uid), whose traffic is not captured; choose another number, for example ${uid === 1000 ? 1001 : 1000}`;
  return platform.node.root.node
    .findAll()
    .filter((construct) => construct instanceof Agent || construct instanceof Tool)
    .filter((each) => platform.watches(each.namespace ?? '') && usersOf(each).includes(uid))
    .map(({ node }) => `${node.path} user: ${message}`);
}

/** The users of its pod and containers, as they are written. */
function usersOf({ workload }: Agent | Tool): readonly unknown[] {
  return podsOf(workload.toJson() as Json)
    .flatMap((pod) => [
      { path: pod.path, value: pod.spec },
      ...containersOf(pod).map(({ path, container }) => ({ path, value: container })),
    ])
    .flatMap((root) => valuesAt(root, 'securityContext.runAsUser').map(({ value }) => value));
}
