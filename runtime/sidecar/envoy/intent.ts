/** What one pod's Envoy is to do: all that its configuration is made from, besides the pod's identity. */

import type { Direction } from '../decision.ts';

export interface Intent {
  /** Who the pod is. Envoy tells it to the discovery server, and it is in every log line. */
  readonly node: { readonly namespace: string; readonly pod: string; readonly uid: string };
  /** Where captured traffic arrives. */
  readonly ports: Readonly<Record<Direction, number>>;
  /** The pod may have IPv6 addresses: listen on those too. False where the kernel has no IPv6, on which Envoy could not bind. */
  readonly ipv6: boolean;
  /**
   * Mutual TLS of what arrives. `permissive` and `strict` are the same to Envoy: which plain requests a strict pod still answers is for the
   * inbound rules (`RequestHead.isTls`), since that goes by the path.
   */
  readonly mtls: MtlsMode;
  /** Undefined: the pod's traffic is captured. */
  readonly explicit?: Explicit | undefined;
  /** Ports to which what is neither TLS nor HTTP may go; undefined: to all. */
  readonly plainTcpPorts?: readonly number[] | undefined;
  /** One JSON line a request or connection on standard output. */
  readonly accessLog: boolean;
  /** Default: `defaultLimits`. */
  readonly limits?: Partial<Limits>;
}

/** How a pod is served whose traffic is not captured. */
export interface Explicit {
  /** Where the application serves; undefined: the pod declares no port, and what arrives is answered 503. */
  readonly application: number | undefined;
  /** False where loopback is not the pod's alone: a proxy on it would be open to everybody on the node. */
  readonly isOutbound: boolean;
}

export type MtlsMode = 'disabled' | 'permissive' | 'strict';

export interface Limits {
  /** Most connections from outside Envoy at once, both directions together; further ones are closed. */
  readonly connections: number;
  /**
   * MiB of memory that Envoy may allocate, besides its 60 of program. Near it idle connections end sooner, new ones wait in the kernel, and new
   * requests are answered 503, so that the container is not killed. A silent connection takes 8 KiB, one that has been answered 17, a request
   * under way 50.
   */
  readonly heapMiB: number;
  /** Seconds a request, or an HTTP connection of the application's, may go without a byte in either direction. */
  readonly idleSeconds: number;
  /** Seconds an HTTP connection from outside may go without a request. */
  readonly restSeconds: number;
  /** Seconds to connect to where a request goes. */
  readonly connectSeconds: number;
  /** Seconds for a client to send all its headers. */
  readonly headersSeconds: number;
  /** KiB and number of a request's headers; more is answered 431. */
  readonly headersKb: number;
  readonly headersCount: number;
  /**
   * Seconds for an outgoing connection's first bytes to say what it is. Later it passes as plain TCP, so that protocols in which the server
   * speaks first work; well-known ports of those do not wait at all (`serverFirstPorts`).
   */
  readonly inspectSeconds: number;
  /** Seconds for the processor to answer; it has a shorter deadline of its own. */
  readonly processorSeconds: number;
  /** Seconds for an identity to arrive before listeners that need one serve without: TLS is then refused, plain HTTP is not. */
  readonly identitySeconds: number;
}

export const defaultLimits: Limits = Object.freeze({
  connections: 10_000,
  heapMiB: 200,
  idleSeconds: 3_600,
  restSeconds: 60,
  connectSeconds: 10,
  headersSeconds: 15,
  headersKb: 60,
  headersCount: 200,
  inspectSeconds: 5,
  processorSeconds: 10,
  identitySeconds: 10,
});

/** The limits in force: what is not given has its default. */
export function limitsOf({ limits = {} }: Pick<Intent, 'limits'>): Limits {
  return { ...defaultLimits, ...limits };
}

/** A duration as Envoy's JSON has it. */
export function seconds(count: number): string {
  return `${count}s`;
}
