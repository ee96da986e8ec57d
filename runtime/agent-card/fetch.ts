/** Fetches an agent's card: one bounded conversation with whoever is at an address, who may be hostile. */

import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';
import { interimGuard } from '../encoding/interim.ts';
import { type Asked, type Failure, sentence, type Step, stepOf, wellKnownPaths } from './answer.ts';
import { readCard } from '../signature/document.ts';
import { maxPieces, readBody } from './body.ts';
import type { Ask, Endpoint, Fetched, Known } from './contact.ts';
import { disconnect } from './disconnect.ts';

export interface FetcherOptions {
  /** For everything one call does, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number;
  /** Of a body, after decompression. Default 1 MiB. */
  readonly maxBytes?: number;
  /** Where to connect for an endpoint. Given only by tests: then no address is refused. */
  readonly reach?: (endpoint: Endpoint) => { readonly address: string; readonly port: number };
}

const maxRedirects = 3;
const maxHeaderBytes = 16_384;

/** What is fetched by each call; `isVersioned` changes under way. */
interface Visit {
  readonly endpoint: Endpoint;
  readonly known: Known | undefined;
  readonly target: { readonly address: string; readonly port: number };
  readonly signal: AbortSignal;
  readonly maxBytes: number;
  isVersioned: boolean;
}

type Found = Fetched | ({ readonly kind: 'absent' } & Failure);
type Absence = Failure & { readonly path: string };
type Onward = Extract<Step, { kind: 'plain' } | { kind: 'follow' }>;

/**
 * Asks each well-known path in turn, over connections of its own that end with the call: no keep-alive, no proxy, no credentials, no name
 * that is looked up. Addresses of the node itself, of the link (cloud metadata) and of groups are refused.
 */
export function createFetcher(options: FetcherOptions = {}): Ask {
  const { timeoutMs = 10_000, maxBytes = 1_048_576, reach } = options;
  return async (endpoint, known, signal) => {
    if (reach === undefined && isForbidden(endpoint.address)) return refused(endpoint);
    const target = reach?.(endpoint) ?? endpoint;
    const deadline = new AbortController();
    const abort = (): void => deadline.abort();
    const timer = setTimeout(abort, timeoutMs);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    const late = { reason: 'Timeout', cause: `gave no complete answer within ${timeoutMs / 1000} s` } as const;
    try {
      const visit = { endpoint, known, target, maxBytes, signal: deadline.signal, isVersioned: true };
      return await eachPath(visit, late);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  };
}

async function eachPath(visit: Visit, late: Failure): Promise<Fetched> {
  const absences: Absence[] = [];
  for (const path of wellKnownPaths) {
    const found = await onePath(visit, path).catch((error: unknown) =>
      failed(visit.endpoint, path, visit.signal.aborted ? late : disconnect(error)),
    );
    if (found.kind !== 'absent') return found;
    absences.push({ path, ...found });
  }
  return failed(visit.endpoint, '', {
    // A card was meant where something came, at whichever path: what is wrong with it is the fault.
    reason: absences.some(({ reason }) => reason === 'NotJSON') ? 'NotJSON' : 'HTTPStatus',
    cause: `serves no card: ${absences.map(({ path, cause }) => `${path} ${cause}`).join(', ')}`,
  });
}

/** One path with its redirects, each on a connection of its own. */
async function onePath(visit: Visit, path: string): Promise<Found> {
  let at: string = path;
  for (let hops = 0; hops <= maxRedirects; ) {
    const isConditional = at === path && visit.known?.path === path;
    const asked = { endpoint: visit.endpoint, path: at, isVersioned: visit.isVersioned, isConditional };
    const outcome = await exchange(visit, asked, path);
    if (outcome.kind === 'plain') visit.isVersioned = false;
    else if (outcome.kind !== 'follow') return outcome;
    else {
      at = outcome.path;
      hops += 1;
    }
  }
  return failed(visit.endpoint, path, { reason: 'Redirected', cause: `redirects more than ${maxRedirects} times` });
}

/** One request and its answer; the connection ends with it, however far the answer is. */
async function exchange(visit: Visit, asked: Asked, path: string): Promise<Found | Onward> {
  const { endpoint, known, target, signal } = visit;
  const sent = request({
    host: target.address,
    port: target.port,
    path: asked.path,
    agent: false,
    maxHeaderSize: maxHeaderBytes,
    signal,
    headers: {
      host: endpoint.host,
      accept: 'application/json, application/a2a+json',
      'accept-encoding': 'identity',
      'user-agent': 'rossoctl-operator',
      ...(asked.isVersioned ? { 'a2a-version': '1.0' } : {}),
      ...(asked.isConditional ? { 'if-none-match': known?.etag } : {}),
    },
  });
  const wire = wireError(sent);
  try {
    const answer = await answerTo(sent);
    const step = stepOf(asked, { status: answer.statusCode ?? 0, location: answer.headers.location });
    if (step.kind === 'read') return await judge(visit, asked, { answer, path });
    return step.kind === 'failed' ? failed(endpoint, asked.path, step) : step;
  } catch (error) {
    throw wire.error ?? error;
  } finally {
    sent.destroy();
  }
}

/** Says better what broke an answer under way than the answer, which only knows that it ended. */
function wireError(sent: ClientRequest): { readonly error: unknown } {
  let first: unknown;
  sent.on('error', (error) => (first ??= error));
  return {
    get error() {
      return first;
    },
  };
}

function answerTo(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once('response', resolve);
    sent.once('error', reject);
    sent.on(
      'information',
      interimGuard((error) => sent.destroy(error)),
    );
    sent.once('upgrade', (_, socket) => {
      socket.destroy();
      reject(Object.assign(new Error('switched protocols'), { code: 'HPE_UPGRADE' }));
    });
    sent.end();
  });
}

interface Arrived {
  readonly answer: IncomingMessage;
  /** The well-known path, which a redirect may have left. */
  readonly path: string;
}

async function judge({ endpoint, maxBytes }: Visit, asked: Asked, { answer, path }: Arrived): Promise<Found> {
  const failure = (reason: Failure['reason'], cause: string) => failed(endpoint, asked.path, { reason, cause });
  const body = await readBody(answer, maxBytes);
  if (body.kind === 'too-large') return failure('TooLarge', `sends more than ${maxBytes} bytes`);
  if (body.kind === 'shredded') return failure('TooLarge', `sends its body in more than ${maxPieces} pieces`);
  if (body.kind === 'unknown-encoding')
    return failure('NotJSON', `sends a body compressed as ${body.encoding}, which is not understood`);
  const reading = readCard(body.bytes);
  if ('card' in reading) {
    const etag = asked.path === path ? usableEtag(answer.headers.etag) : undefined;
    return { kind: 'card', body: body.bytes, path, ...(etag === undefined ? {} : { etag }) };
  }
  if (reading.refused === 'not-json')
    return { kind: 'absent', reason: 'NotJSON', cause: `sends no JSON: ${reading.detail}` };
  return failure('NotACard', `sends no card: ${reading.detail}`);
}

/** RFC 9110 8.8.3, without bytes beyond ASCII, which could not be sent back. */
function usableEtag(etag: string | undefined): string | undefined {
  return etag !== undefined && /^(W\/)?"[\x21\x23-\x7e]{0,512}"$/.test(etag) ? etag : undefined;
}

function failed(endpoint: Endpoint, path: string, { reason, cause }: Failure): Fetched {
  return { kind: 'failed', reason, message: sentence(endpoint, path, cause) };
}

function refused(endpoint: Endpoint): Fetched {
  return failed(endpoint, '', { reason: 'ConnectionFailed', cause: 'is not asked: that is no address of a pod' });
}

const forbidden = forbiddenAddresses();

/** IPv4 addresses in IPv6 clothes are judged as what they are. */
function isForbidden(address: string): boolean {
  return isIP(address) === 0 || forbidden.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

function forbiddenAddresses(): BlockList {
  const list = new BlockList();
  const subnets = ['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/3', '::/127', 'fe80::/10', 'ff00::/8'];
  for (const subnet of subnets) {
    const [network = '', bits] = subnet.split('/');
    list.addSubnet(network, Number(bits), isIPv6(network) ? 'ipv6' : 'ipv4');
  }
  // The metadata service of AWS, the only one known that has an address which a pod could have.
  list.addAddress('fd00:ec2::254', 'ipv6');
  return list;
}
