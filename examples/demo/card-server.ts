/** An agent reduced to its card: serves a file, signed or not, as it is at the moment of each request. Runs with Node alone. */

import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

const cardPath = '/.well-known/agent-card.json';
const largestCard = 1024 * 1024;

/**
 * A server of the card in `file`. The file is read anew for each request, so a card that was signed again needs no restart, also when a
 * ConfigMap's volume swaps it. Answers 503 as long as the file holds no JSON object of at most 1 MiB, so that it can be the agent's
 * readiness probe too.
 */
export function cardServer(file: string): Server {
  return createServer((request, response) => {
    answer(file, request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
}

async function answer(file: string, { method, url = '', headers }: IncomingMessage, response: ServerResponse) {
  if (url.split('?')[0] !== cardPath) return end(response, 404, `nothing but ${cardPath} is served\n`);
  if (method !== 'GET' && method !== 'HEAD') return end(response.setHeader('allow', 'GET, HEAD'), 405, 'GET or HEAD\n');
  const card = await readCard(file);
  if (card instanceof Error) return end(response, 503, `no card: ${card.message}\n`);
  const etag = `"${createHash('sha256').update(card).digest('base64url')}"`;
  response.setHeader('etag', etag).setHeader('cache-control', 'no-cache');
  if (headers['if-none-match'] === etag) return end(response, 304, '');
  response.setHeader('content-type', 'application/json');
  return end(response, 200, card);
}

/** Node leaves the body out of what answers HEAD. */
function end(response: ServerResponse, status: number, body: string | Buffer): void {
  if (status >= 400) response.setHeader('content-type', 'text/plain; charset=utf-8');
  response.writeHead(status, status === 304 ? {} : { 'content-length': Buffer.byteLength(body) }).end(body);
}

/** Its bytes are served untouched: the signature covers what they say. */
async function readCard(file: string): Promise<Buffer | Error> {
  try {
    await using handle = await open(file);
    const { size } = await handle.stat();
    if (size > largestCard) return new Error(`it is larger than ${largestCard} bytes`);
    const bytes = await handle.readFile();
    const card: unknown = JSON.parse(bytes.toString());
    const isObject = typeof card === 'object' && card !== null && !Array.isArray(card);
    return isObject ? bytes : new Error('it is no JSON object');
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

if (import.meta.main) {
  const server = cardServer(process.env['CARD'] ?? '/agent/card.json').listen(Number(process.env['PORT'] ?? 8080));
  // The first process of a container ends by signals only if it asks for them.
  process.once('SIGTERM', () => server.close().closeAllConnections());
}
