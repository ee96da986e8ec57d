/** Finds the addresses of a host as the agent's own libraries would, by what the pod's files said when the sidecar started. */

import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { untilAborted } from '../idp/until-aborted.ts';
import { candidates, nameSettings } from './names.ts';

/** Every address of a host; throws for a name that has none or cannot be looked up. */
export type FindAddresses = (host: string) => Promise<readonly string[]>;

const files = { hosts: '/etc/hosts', resolv: '/etc/resolv.conf' };
const timing = { timeout: 2_000, tries: 2 };

export interface FinderOptions {
  /** For tests. */
  readonly paths?: Readonly<typeof files>;
  /** Milliseconds for all names that one host may stand for. Default 5,000: a decision has 8 seconds. */
  readonly withinMs?: number;
  /** Default: asks the servers that the files name. */
  readonly resolver?: Pick<Resolver, 'resolve4' | 'resolve6'>;
}

/**
 * Reads the files once, here: all containers of a pod share them, and an agent that runs as root could write into them where the tokens of its
 * callers are to go. The sidecar starts before the agent does. A host that takes too long rejects with `ETIMEOUT`.
 */
export async function openFinder(options: FinderOptions = {}): Promise<FindAddresses> {
  const { paths = files, withinMs = 5_000 } = options;
  const [hosts, resolv] = await Promise.all([textOf(paths.hosts), textOf(paths.resolv)]);
  const settings = nameSettings(hosts, resolv);
  const resolver = options.resolver ?? resolverOf(settings.servers);
  return async (host) => {
    const written = settings.hosts.get(host);
    if (written !== undefined) return written;
    const over = AbortSignal.timeout(withinMs);
    for (const name of candidates(host, settings)) {
      const found = await untilAborted(addressesOf(resolver, name), over);
      if (found === undefined) throw failed('ETIMEOUT', `${host} was not looked up within ${withinMs / 1000} s`);
      if (found.length > 0) return found;
    }
    throw failed('ENOTFOUND', `${host} has no address`);
  };
}

function resolverOf(servers: readonly string[]): Resolver {
  const resolver = new Resolver(timing);
  if (servers.length > 0) resolver.setServers([...servers]);
  return resolver;
}

const failed = (code: string, message: string): Error => Object.assign(new Error(message), { code });

async function addressesOf(
  resolver: Pick<Resolver, 'resolve4' | 'resolve6'>,
  name: string,
): Promise<readonly string[]> {
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const failure = answers.find((answer) => answer.status === 'rejected' && !isAbsent(answer.reason));
  // That a server does not answer says nothing about the name: the next domain would be another host.
  if (found.length === 0 && failure?.status === 'rejected') throw failure.reason;
  return found;
}

/** The name, or an address of this family, does not exist. */
function isAbsent(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return code === 'ENOTFOUND' || code === 'ENODATA' || code === 'EBADNAME';
}

function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}
