/** How a pod looks up hosts: its hosts file, its name servers and its search domains, as they are written. */

import { isAddress, sameAddress } from '../../encoding/authority.ts';

export interface NameSettings {
  /** Addresses by name, in lower case. */
  readonly hosts: ReadonlyMap<string, readonly string[]>;
  readonly servers: readonly string[];
  /** Domains that a name is tried below. */
  readonly search: readonly string[];
  /** A name with fewer dots is tried below the domains first. */
  readonly ndots: number;
}

const most = { lines: 10_000, servers: 3, search: 32 };

/** Reads the texts of `hosts(5)` and `resolv.conf(5)`; what cannot be read in them is left out. */
export function nameSettings(hostsText: string, resolvText: string): NameSettings {
  const hosts = new Map<string, string[]>();
  for (const [address = '', ...names] of words(hostsText)) {
    const plain = address.split('%', 1)[0] ?? '';
    if (!isAddress(plain)) continue;
    for (const name of names) {
      const key = name.toLowerCase().replace(/\.$/, '');
      hosts.set(key, [...(hosts.get(key) ?? []), sameAddress(plain)]);
    }
  }
  const rows = words(resolvText);
  const last = (keyword: string): readonly string[] => rows.findLast(([word]) => word === keyword)?.slice(1) ?? [];
  const servers = rows.filter(([word]) => word === 'nameserver').map(([, server = '']) => server);
  const ndots = rows
    .filter(([word]) => word === 'options')
    .flatMap((row) => row.slice(1))
    .findLast((option) => /^ndots:\d{1,2}$/.test(option));
  return {
    hosts,
    servers: servers.filter(isAddress).slice(0, most.servers),
    search: last('search').slice(0, most.search),
    ndots: ndots === undefined ? 1 : Number(ndots.slice('ndots:'.length)),
  };
}

/** Lines without comments and empty ones, as words. */
function words(text: string): readonly (readonly string[])[] {
  return text
    .split('\n', most.lines)
    .map((line) =>
      line
        .replace(/[#;].*$/, '')
        .trim()
        .split(/\s+/),
    )
    .filter(([word]) => word !== '');
}

/** A name that only the cluster's DNS answers: of one label, or below `svc`. `tool.team1` may as well be a domain of the internet. */
export function isService(host: string): boolean {
  return /^[^.:]+$/.test(host) || /^[^.]+\.[^.]+\.svc(?:\.cluster\.local)?$/.test(host);
}

/**
 * The full names to ask for, in their order (resolv.conf(5), `ndots`). A name that ends in a dot is itself alone; one that reads as a Service's is
 * asked for in the cluster's domains alone: the kubelet adds those of its node, where another may be called the same.
 */
export function candidates(host: string, { search, ndots }: Pick<NameSettings, 'search' | 'ndots'>): readonly string[] {
  if (host.endsWith('.')) return [host.slice(0, -1)];
  const below = (isService(host) ? ofCluster(search) : search).map((domain) => `${host}.${domain.replace(/\.$/, '')}`);
  return host.split('.').length - 1 >= ndots ? [host, ...below] : [...below, host];
}

/** `team1.svc.example` and what it is below of; all of them where there is no such domain, and the pod's DNS is of its own making. */
function ofCluster(search: readonly string[]): readonly string[] {
  const own = search.find((domain) => /^[^.]+\.svc\./.test(domain));
  return own === undefined ? search : search.filter((domain) => own === domain || own.endsWith(`.${domain}`));
}
