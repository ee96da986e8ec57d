/** Whether the pod can be reached and can call over IPv6. */

/** `off`: the kernel has none. `unused`: there is no address but loopback. `on`: rules are needed. */
export type Ipv6 = 'off' | 'unused' | 'on';

/** From `/proc/net/if_inet6` (undefined: there is no such file). A link-local address counts: a neighbour on the same bridge can dial it. */
export function ipv6In(addresses: string | undefined): Ipv6 {
  if (addresses === undefined) return 'off';
  const scopes = addresses
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => line.trim().split(/\s+/)[3]);
  return scopes.some((scope) => scope !== hostScope) ? 'on' : 'unused';
}

/** The scope of `::1`. */
const hostScope = '10';
