/** What Envoy's processor protocol says of a request, as the rules want it. */

import type { Direction, Endpoint, RequestHead } from '../decision.ts';

/** The parts of `envoy.service.ext_proc.v3.ProcessingRequest` that are read. */
export interface ProcessingRequest {
  readonly request:
    | { readonly case: 'requestHeaders'; readonly value: HttpHeaders }
    | { readonly case: Exclude<string, 'requestHeaders'>; readonly value: unknown }
    | { readonly case: undefined };
  /** By filter; the attributes that were asked for, those without a value left out. */
  readonly attributes: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

interface HttpHeaders {
  readonly headers?: { readonly headers: readonly HeaderValue[] } | undefined;
}

interface HeaderValue {
  readonly key: string;
  /** Older Envoys' field; empty where `rawValue` is filled. */
  readonly value: string;
  readonly rawValue: Uint8Array;
}

/** Headers by lower-case name, each with all its values. Pseudo headers are among them. */
export type Headers = ReadonlyMap<string, readonly string[]>;

/** The headers of the message; undefined when it is about something else (a body, trailers, a response). */
export function headersOf({ request }: ProcessingRequest): Headers | undefined {
  if (request.case !== 'requestHeaders') return undefined;
  const { headers } = request.value as HttpHeaders;
  const found = new Map<string, string[]>();
  for (const { key, value, rawValue } of headers?.headers ?? []) {
    const name = key.toLowerCase();
    // Header values are bytes. Latin 1 keeps each as it is, also one that is no UTF-8.
    const text = rawValue.length > 0 ? Buffer.from(rawValue).toString('latin1') : value;
    const values = found.get(name);
    if (values === undefined) found.set(name, [text]);
    else values.push(text);
  }
  return found;
}

/** The request's head. The direction is the caller's to say: it is a fact of the listener. */
export function requestHead(direction: Direction, headers: Headers, message: ProcessingRequest): RequestHead {
  const attributes: Readonly<Record<string, unknown>> = Object.assign({}, ...Object.values(message.attributes));
  const values = (name: string): readonly string[] => headers.get(name) ?? [];
  const peer = attributes['connection.uri_san_peer_certificate'];
  return {
    direction,
    method: values(':method')[0] ?? '',
    path: values(':path')[0] ?? '',
    authority: values(':authority')[0] ?? '',
    values,
    source: endpointOf(attributes['source.address']),
    destination: endpointOf(attributes['destination.address']),
    isTls: attributes['connection.mtls'] === true,
    peer: typeof peer === 'string' && peer !== '' ? peer : undefined,
  };
}

/** `10.0.0.1:80` and `[fd00::1]:80`; undefined for anything else. */
export function endpointOf(text: unknown): Endpoint | undefined {
  const match = typeof text === 'string' ? /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) : null;
  const address = match?.[1] ?? match?.[2];
  return match === null || address === undefined ? undefined : { address, port: Number(match[3]) };
}

/** An endpoint as Envoy's cluster of original destinations reads it. */
export function endpointText({ address, port }: Endpoint): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
