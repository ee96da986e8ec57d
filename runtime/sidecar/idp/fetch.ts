/** Talks to the identity provider: requests that are bounded in time and size, and whose failures are values. */

import { isIP, type LookupFunction } from 'node:net';
import { getCACertificates } from 'node:tls';
import { Agent, request } from 'undici';
import { BodyExceeds, gather } from '../../encoding/gather.ts';
import { InterimOverflow, interimGuard } from '../../encoding/interim.ts';

export interface Question {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** From the first byte sent to the last one received, connecting included, in milliseconds. */
  readonly timeoutMs: number;
}

/** Whatever the server said, whether it likes the question or not. Redirects are not followed: they are answers like others. */
export interface Answer {
  readonly kind: 'answer';
  readonly status: number;
  /** Empty when the server names none. */
  readonly contentType: string;
  /** `Retry-After` in whole seconds, when it says so in that form. */
  readonly retryAfterSeconds: number | undefined;
  readonly body: Buffer;
}

/** There is no whole answer. `why` is the second half of a sentence about the server: "does not answer within 5 s". */
export interface NoAnswer {
  readonly kind: 'no-answer';
  readonly reason: 'unreachable' | 'timeout' | 'too-large';
  readonly why: string;
}

export interface IdpClient {
  /** Never throws. */
  ask(question: Question): Promise<Answer | NoAnswer>;
  /** Ends every connection. */
  close(): Promise<void>;
}

export interface IdpClientOptions {
  /** Bytes of a body. Default 262,144: the keys of a realm are a few thousand. */
  readonly maxBytes?: number;
  /** Connections to one server at a time; further questions wait, and their time runs. Default 16. */
  readonly connections?: number;
  /** PEM of authorities that count besides those that Node trusts. Default: none. */
  readonly authorities?: string;
  /** How hosts are looked up. Default: as the system does at that moment. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
}

const maxHeaderBytes = 16_384;

/** One pool of connections, with no proxy, cookies or credentials of its own. */
export function createIdpClient(options: IdpClientOptions = {}): IdpClient {
  const { maxBytes = 262_144, connections = 16, authorities = '', resolve } = options;
  const dispatcher = new Agent({
    connections,
    maxResponseSize: maxBytes,
    maxHeaderSize: maxHeaderBytes,
    connect: {
      ...(resolve === undefined ? {} : { lookup: lookupBy(resolve) }),
      ...(authorities === '' ? {} : { ca: [...getCACertificates(), authorities] }),
    },
  });
  return {
    ask: async ({ method, url, headers = {}, body, timeoutMs }) => {
      const endless = new AbortController();
      try {
        const answer = await request(url, {
          dispatcher,
          method,
          headers: { accept: 'application/json', 'user-agent': 'rossoctl-sidecar', ...headers },
          ...(body === undefined ? {} : { body }),
          signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), endless.signal]),
          onInfo: interimGuard((error) => endless.abort(error)),
        });
        const bytes = await gather(answer.body, { maxBytes });
        return { kind: 'answer', status: answer.statusCode, body: bytes, ...headOf(answer.headers) };
      } catch (error) {
        return noAnswer(error, { timeoutMs, maxBytes });
      }
    },
    close: () => dispatcher.destroy(),
  };
}

type Resolve = NonNullable<IdpClientOptions['resolve']>;

/** In the form in which Node's sockets ask; they ask for all addresses, or for one. */
function lookupBy(resolve: Resolve): LookupFunction {
  const lookUp = async (...[host, { all }, callback]: Parameters<LookupFunction>): Promise<void> => {
    const answer = await resolve(host).catch(
      (error: unknown) => new Error(`${host} cannot be looked up`, { cause: error }),
    );
    if (answer instanceof Error) return callback(answer, []);
    const found = answer.map((address) => ({ address, family: isIP(address) }));
    if (all) callback(null, found);
    else callback(null, found[0]?.address ?? '', found[0]?.family);
  };
  return (...asked) => void lookUp(...asked);
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

function headOf(headers: Headers) {
  const one = (name: string): string => [headers[name] ?? ''].flat()[0] ?? '';
  const seconds = one('retry-after');
  return {
    contentType: one('content-type'),
    retryAfterSeconds: /^\d{1,6}$/.test(seconds) ? Number(seconds) : undefined,
  };
}

function noAnswer(error: unknown, limits: { readonly timeoutMs: number; readonly maxBytes: number }): NoAnswer {
  const failure = (reason: NoAnswer['reason'], why: string): NoAnswer => ({ kind: 'no-answer', reason, why });
  const [name, code] = error instanceof Error ? [error.name, codeOf(error)] : ['', ''];
  if (name === 'TimeoutError') return failure('timeout', `does not answer within ${limits.timeoutMs / 1000} s`);
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
    return failure('too-large', `answers with more than ${limits.maxBytes} bytes`);
  }
  if (error instanceof BodyExceeds) return failure('too-large', 'answers with a body of thousands of pieces');
  if (error instanceof InterimOverflow) return failure('too-large', 'sends one interim answer (1xx) after the other');
  return failure('unreachable', sentences[code] ?? `cannot be asked (${code === '' ? name : code})`);
}

/** Of an error or of what caused it; an address book of several addresses has its code in the first failure. */
function codeOf(error: Error): string {
  if ('code' in error && typeof error.code === 'string') return error.code;
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error.cause;
  return inner instanceof Error ? codeOf(inner) : '';
}

const untrusted =
  'has a certificate that no trusted authority has signed: put the certificate of its authority into identity.ca';

const sentences: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses connections',
  ECONNRESET: 'cut the connection off',
  UND_ERR_SOCKET: 'cut the connection off',
  UND_ERR_CONNECT_TIMEOUT: 'does not take connections',
  ENOTFOUND: 'has a name that is not known here',
  EAI_AGAIN: 'has a name that could not be looked up just now',
  EHOSTUNREACH: 'cannot be reached from here',
  ENETUNREACH: 'cannot be reached from here',
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  CERT_HAS_EXPIRED: 'has a certificate that has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'has a certificate for another name',
};
