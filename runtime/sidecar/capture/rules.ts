/** Which packets go to the proxy: the pod's packet filter as a table of rules, for IPv4 and IPv6 alike. */

import type { CaptureSettings } from './capture-settings.ts';

export const families = ['ipv4', 'ipv6'] as const;
export type Family = (typeof families)[number];

export const tables = ['nat', 'mangle', 'filter'] as const;
export type Table = (typeof tables)[number];

/** A chain of ours and what leads to it: always the first rule of a built-in chain. */
export interface Chain {
  readonly table: Table;
  readonly name: `ROSSOCTL_${string}`;
  readonly from: 'PREROUTING' | 'INPUT' | 'OUTPUT';
}

const inbound: Chain = { table: 'nat', name: 'ROSSOCTL_INBOUND', from: 'PREROUTING' };
const outbound: Chain = { table: 'nat', name: 'ROSSOCTL_OUTBOUND', from: 'OUTPUT' };
const delivery: Chain = { table: 'mangle', name: 'ROSSOCTL_DELIVERY', from: 'OUTPUT' };
const arrival: Chain = { table: 'filter', name: 'ROSSOCTL_ARRIVAL', from: 'INPUT' };
export const chains: readonly Chain[] = [inbound, outbound, delivery, arrival];

/** One rule, in the words `iptables-save` prints it in, so that it can be found there again. */
export interface Rule {
  readonly chain: Chain;
  readonly match: string;
  readonly target: string;
  /** What it is for. */
  readonly why: string;
}

const meshMark = '0x539/0xfff';
const meshTunnelPort = 15_008;
const unreachable = { ipv4: 'icmp-port-unreachable', ipv6: 'icmp6-port-unreachable' } as const;

const port = (number: number) => `-p tcp -m tcp --dport ${number}`;
const marked = `-m mark --mark ${meshMark}`;

/**
 * The rules in order; within a chain the first that matches decides.
 *
 * **Inbound.** Every TCP port of the pod is redirected to the inbound port, whoever dials and whichever port it is, the proxy's own included. Left
 * alone are the health port, ports excluded by annotation, and port 15008, where a node proxy of Istio's ambient mode takes its tunnels (an
 * application that listens there is not protected). A direct dial of the inbound or outbound port is refused by a reset: a connection that was not
 * redirected to them has no business there, also from inside the pod, so a connection can never loop through the proxy. A connection from
 * outside that was not redirected, to no port that is left alone, is refused as well: another program's rule before ours may have let it by.
 *
 * **Outbound.** Every TCP connection of every user but the proxy's is redirected to the outbound port. Left alone are connections inside the pod
 * (loopback and the pod's own addresses: the pod is one zone of trust) and excluded ports. A pod that calls its own Service leaves it and comes
 * back as anybody's call does. Link-local addresses are no exception: metadata servers speak HTTP and are asked through the proxy.
 *
 * **What is not TCP.** From outside, UDP (so HTTP/3 too) and SCTP would reach the application without a token, and the proxy cannot read them: new
 * flows are refused, except those to excluded ports and the answers to what the pod asked. From inside they pass: name resolution, metrics and time
 * need them, and QUIC is TLS, which passes over TCP as well; where an agent may go is a NetworkPolicy's to say. DNS over TCP is captured and passed
 * on like any TCP that is not HTTP. ICMP is left alone.
 *
 * **Istio's ambient mode.** Its node proxy works inside the pod's namespace and marks its packets `0x539`. Marked packets to the pod itself are calls
 * from outside, already unwrapped: they go to the inbound port (by port alone: the address must stay, for the caller's is the real one and loopback
 * would drop it). Marked packets to elsewhere are ours already. The proxy's packets to the application get the mark, so that they are not wrapped again.
 * The address `169.254.7.127`, from which that mode's probes come, is *not* left alone: a neighbour on the same bridge can take it, and probes pass by
 * what they ask for, as everywhere.
 *
 * An application that may set marks (`NET_RAW`) or become another user (`SETUID`) can call out past the proxy, though nobody can call it so; one that
 * has `NET_ADMIN` can undo everything. Pod Security "restricted" takes all three away.
 */
export function captureRules(settings: CaptureSettings, family: Family): readonly Rule[] {
  return [
    ...inboundRules(settings),
    ...outboundRules(settings),
    row(delivery, `-o lo -p tcp ${proxy(settings)}`, `MARK --set-xmark ${meshMark}`, 'not to be wrapped again'),
    ...arrivalRules(settings, unreachable[family]),
  ];
}

function row(chain: Chain, match: string, target: string, why: string): Rule {
  return { chain, match, target, why };
}

const proxy = ({ proxyUid }: CaptureSettings) => `-m owner --uid-owner ${proxyUid}`;

/** The first packet of a connection. A later one that conntrack calls invalid is for TCP to sort out: a reset would end what goes on. */
const opening = '-p tcp -m tcp --tcp-flags FIN,SYN,RST,ACK SYN';

/** Ports that callers reach without the proxy. */
function openPorts({ healthPort, inboundExclude }: CaptureSettings): readonly number[] {
  return [healthPort, ...inboundExclude.filter((excluded) => excluded !== healthPort)];
}

function inboundRules(settings: CaptureSettings): readonly Rule[] {
  return [
    ...openPorts(settings).map((open) => row(inbound, port(open), 'RETURN', 'health, or excluded by annotation')),
    row(inbound, port(meshTunnelPort), 'RETURN', "ambient's tunnels end at its node proxy"),
    row(inbound, '-p tcp', `REDIRECT --to-ports ${settings.inboundPort}`, 'everything else'),
  ];
}

function outboundRules(settings: CaptureSettings): readonly Rule[] {
  const own = openPorts(settings).map((open) =>
    row(outbound, `-o lo ${port(open)} ${marked}`, 'RETURN', 'ambient delivers to a port that is not captured'),
  );
  const excluded = settings.outboundExclude.map((each) =>
    row(outbound, port(each), 'RETURN', 'excluded by annotation'),
  );
  return [
    row(outbound, proxy(settings), 'RETURN', "the proxy's own, or it would go round for ever"),
    ...own,
    row(
      outbound,
      `-o lo -p tcp ${marked}`,
      `DNAT --to-destination :${settings.inboundPort}`,
      'ambient delivers a call',
    ),
    row(outbound, marked, 'RETURN', 'ambient carries on what the proxy sent'),
    row(outbound, '-o lo', 'RETURN', 'the pod with itself'),
    ...excluded,
    row(outbound, '-p tcp', `REDIRECT --to-ports ${settings.outboundPort}`, 'everything else'),
  ];
}

function arrivalRules(settings: CaptureSettings, icmp: string): readonly Rule[] {
  const refuse = `REJECT --reject-with ${icmp}`;
  const dialled = [settings.outboundPort, settings.inboundPort].map((own) =>
    row(
      arrival,
      `${port(own)} -m conntrack ! --ctstate DNAT`,
      'REJECT --reject-with tcp-reset',
      'dialled, not redirected',
    ),
  );
  const open = settings.inboundExclude.map((each) =>
    row(arrival, `-p udp -m udp --dport ${each}`, 'RETURN', 'excluded by annotation'),
  );
  const openTcp = [...openPorts(settings), meshTunnelPort].map((each) =>
    row(arrival, port(each), 'RETURN', "health, excluded by annotation, or ambient's"),
  );
  return [
    row(arrival, '-m conntrack --ctstate RELATED,ESTABLISHED', 'RETURN', 'answers, and what was let in'),
    ...dialled,
    row(arrival, '-i lo', 'RETURN', 'the pod with itself'),
    ...open,
    ...openTcp,
    row(arrival, `${opening} -m conntrack ! --ctstate DNAT`, 'REJECT --reject-with tcp-reset', 'not redirected'),
    row(arrival, '-p udp', refuse, 'no token can be asked for'),
    row(arrival, '-p sctp', refuse, 'no token can be asked for'),
  ];
}

/** The rule as `iptables-save` prints it. */
export function line({ chain, match, target }: Rule): string {
  return `-A ${chain.name} ${match} -j ${target}`;
}

/** What leads to the chain, as `iptables-save` prints it: TCP alone for addresses to be translated and marks, all for the filter. */
export function jump({ table, name, from }: Chain): string {
  return `-A ${from} ${table === 'filter' ? '' : '-p tcp '}-j ${name}`;
}
