/** What the sidecar decides about one HTTP request: the values that pass between Envoy's processor and the inbound and outbound rules. */

/** Which listener a request came in by. It is a fact of Envoy's configuration and never read from the request. */
export type Direction = 'inbound' | 'outbound';

/** An address as Envoy tells it. */
export interface Endpoint {
  /** Numeric IPv4 or IPv6 address, without brackets. */
  readonly address: string;
  readonly port: number;
}

/** The head of one request: headers as they came, and what Envoy knows of the connection. */
export interface RequestHead {
  readonly direction: Direction;
  readonly method: string;
  /** `:path` as sent, query included, after Envoy has normalised it. */
  readonly path: string;
  /** `:authority` as sent. */
  readonly authority: string;
  /** Every value of a header in the order they came; the name in lower case. Empty when there is none. */
  readonly values: (name: string) => readonly string[];
  /** Where the connection was going before it was captured. */
  readonly destination: Endpoint | undefined;
  readonly source: Endpoint | undefined;
  /** Inbound: the request came over mutual TLS. */
  readonly isTls: boolean;
  /** SPIFFE ID of the peer's certificate, once verified by Envoy. */
  readonly peer: string | undefined;
}

/** Let it go on, with these changes. */
export interface Pass {
  readonly kind: 'pass';
  /** Why, as a metric label: one of a fixed set. */
  readonly reason: string;
  /** Headers that replace whatever was there; names in lower case. */
  readonly set?: Readonly<Record<string, string>>;
  /** Headers taken away. */
  readonly remove?: readonly string[];
  /** Where Envoy sends it instead of the original destination. */
  readonly destination?: Endpoint;
  /** Outbound: Envoy sends it by mutual TLS, or answers 503. Default false. */
  readonly isMtls?: boolean;
}

/** Answer it here, without the other side ever seeing it. */
export interface Refusal {
  readonly kind: 'refuse';
  readonly reason: string;
  /** 4xx or 5xx. */
  readonly status: number;
  /** OAuth error code (RFC 6750, section 3.1) or one of ours, in the body's `error`. */
  readonly error: string;
  /** One sentence for the caller, in the body's `error_description`: what is wrong and what to do. Never a token, never a secret. */
  readonly description: string;
  /** More response headers, such as `www-authenticate` and `retry-after`; names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

export type Decision = Pass | Refusal;

/**
 * One direction's rules. It never takes longer than `deadline` (see `Settings`); `signal` ends with the request. With one that has ended already
 * no work is begun, and only a decision that is no promise counts; the promise may reject then.
 */
export type Decide = (head: RequestHead, signal: AbortSignal) => Decision | Promise<Decision>;
