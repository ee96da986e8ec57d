/** AC-04: what agents do that lie, stall, flood or point elsewhere, and what is said of each. */

import type { Socket } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { type Answering, withoutEnd } from './agents.ts';

export const mebibyte = 1024 * 1024;

export const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
export const zeros = gzipSync(Buffer.alloc(10 * mebibyte));

export interface Row {
  readonly timeoutMs?: number;
  readonly what: string;
  readonly reason: string;
  readonly cause: RegExp;
  readonly answer?: Answering;
  readonly raw?: (socket: Socket) => void;
}

export const send =
  (body: Uint8Array | string, headers: Readonly<Record<string, string>> = {}): Answering =>
  (response) =>
    response.writeHead(200, headers).end(body);

export const tooLarge = { reason: 'TooLarge', cause: /sends more than 1048576 bytes/ };

const closedEarly = { reason: 'ConnectionFailed', cause: /closed the connection before its answer was complete/ };

export const rows: readonly Row[] = [
  {
    what: 'an endless chunked body',
    answer: (response) => withoutEnd(response.writeHead(200), Buffer.alloc(65_536, 'x')),
    ...tooLarge,
  },
  {
    what: '10 MB of zeros in 10 KB of gzip',
    answer: send(zeros, { 'content-encoding': 'gzip' }),
    ...tooLarge,
  },
  {
    what: 'zeros in gzip without end',
    answer: (response) => withoutEnd(response.writeHead(200, { 'content-encoding': 'x-gzip' }), zeros),
    ...tooLarge,
  },
  {
    what: 'a content length that says too much',
    raw: (socket) => socket.write(`${head}content-length: 1048577\r\n\r\n{`),
    ...tooLarge,
  },
  {
    what: 'compression that is not understood',
    answer: send(brotliCompressSync('{}'), { 'content-encoding': 'br' }),
    reason: 'NotJSON',
    cause: /compressed as br, which is not understood/,
  },
  {
    what: 'compression on compression',
    answer: send(gzipSync(gzipSync('{}')), { 'content-encoding': 'gzip, gzip' }),
    reason: 'NotJSON',
    cause: /compressed as gzip, gzip, which/,
  },
  {
    what: 'a body that is not compressed as it says',
    answer: send('{"name":"x"}', { 'content-encoding': 'gzip' }),
    reason: 'NotJSON',
    cause: /not compressed as its headers say/,
  },
  {
    what: 'compression that ends early',
    answer: send(gzipSync('{"name":"x"}').subarray(0, 20), { 'content-encoding': 'gzip' }),
    reason: 'ConnectionFailed',
    cause: /before the compressed body was complete/,
  },
  {
    what: 'a redirect to the cloud’s metadata',
    answer: (response) => response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end(),
    reason: 'Redirected',
    cause: /redirects to http:\/\/169\.254\.169\.254, which is not followed/,
  },
  {
    what: 'a redirect to another port of its own host',
    answer: (response) => response.writeHead(301, { location: 'http://weather.team1.svc:1/' }).end(),
    reason: 'Redirected',
    cause: /redirects to http:\/\/weather\.team1\.svc:1, /,
  },
  {
    what: 'a redirect to TLS',
    answer: (response, { headers }) => response.writeHead(308, { location: `https://${headers.host}/` }).end(),
    reason: 'Redirected',
    cause: /redirects to https:/,
  },
  {
    what: 'a redirect to a host that only begins like its own',
    answer: (response, { headers }) => response.writeHead(302, { location: `http://${headers.host}@evil/` }).end(),
    reason: 'Redirected',
    cause: /redirects to http:\/\/evil,/,
  },
  {
    what: 'a redirect to no URL',
    answer: (response) => response.writeHead(302, { location: 'http://[::' }).end(),
    reason: 'Redirected',
    cause: /redirects to http:\/\/\[::, which/,
  },
  {
    what: 'redirects without end',
    answer: (response, { url }) => response.writeHead(302, { location: `${url}x` }).end(),
    reason: 'Redirected',
    cause: /redirects more than 3 times/,
  },
  {
    what: 'a redirect without a place',
    answer: (response) => response.writeHead(302).end(),
    reason: 'HTTPStatus',
    cause: /answered 302/,
  },
  {
    what: 'nothing at all',
    raw: () => {},
    timeoutMs: 100,
    reason: 'Timeout',
    cause: /no complete answer within 0\.1 s/,
  },
  {
    what: 'one byte at a time',
    answer: (response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('{'), 10);
      response.on('close', () => clearInterval(timer));
    },
    timeoutMs: 200,
    reason: 'Timeout',
    cause: /no complete answer within 0\.2 s/,
  },
  {
    what: 'headers one byte at a time',
    raw: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\na: ');
      const timer = setInterval(() => socket.write('x'), 10);
      socket.on('close', () => clearInterval(timer));
    },
    timeoutMs: 200,
    reason: 'Timeout',
    cause: /no complete answer/,
  },
  {
    what: 'ten thousand headers',
    raw: (socket) => socket.write(`${head}${Array.from({ length: 10_000 }, (_, i) => `x-${i}: y\r\n`).join('')}\r\n{}`),
    reason: 'TooLarge',
    cause: /headers of more than 16 KiB/,
  },
  {
    what: 'headers without end',
    raw: (socket) => {
      socket.write(head);
      withoutEnd(socket, Buffer.from('x: y\r\n'.repeat(1000)));
    },
    reason: 'TooLarge',
    cause: /headers of more than 16 KiB/,
  },
  {
    what: 'trailers without end',
    raw: (socket) => {
      socket.write(`${head}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n`);
      withoutEnd(socket, Buffer.from('x: y\r\n'.repeat(1000)));
    },
    reason: 'TooLarge',
    cause: /headers of more than 16 KiB/,
  },
  {
    what: 'a chunk extension without end',
    raw: (socket) => {
      socket.write(`${head}transfer-encoding: chunked\r\n\r\n2;`);
      withoutEnd(socket, Buffer.alloc(4096, 'x'));
    },
    reason: 'TooLarge',
    cause: /chunk extensions of more than 16 KiB/,
  },
  {
    what: 'chunks that are none',
    raw: (socket) => socket.write(`${head}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n`),
    reason: 'ConnectionFailed',
    cause: /not HTTP/,
  },
  {
    what: 'the alert of a TLS server',
    raw: (socket) => socket.write(Buffer.from([0x15, 3, 1, 0, 2, 2, 0x46])),
    reason: 'ConnectionFailed',
    cause: /not HTTP; is its port for TLS or gRPC\?/,
  },
  {
    what: 'an HTTP/2 server’s settings',
    raw: (socket) => socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])),
    reason: 'ConnectionFailed',
    cause: /not HTTP/,
  },
  {
    what: 'another protocol',
    raw: (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n'),
    reason: 'ConnectionFailed',
    cause: /not HTTP/,
  },
  {
    what: 'a reset in place of an answer',
    raw: (socket) => socket.resetAndDestroy(),
    ...closedEarly,
  },
  {
    what: 'an end in place of an answer',
    raw: (socket) => socket.end(),
    ...closedEarly,
  },
  {
    what: 'a body shorter than its length',
    raw: (socket) => socket.end(`${head}content-length: 20\r\n\r\n{"name":"x"}`),
    ...closedEarly,
  },
  {
    what: 'a chunked body without its end',
    raw: (socket) => socket.end(`${head}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n`),
    ...closedEarly,
  },
  {
    what: 'two lengths',
    raw: (socket) => socket.end(`${head}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`),
    reason: 'ConnectionFailed',
    cause: /not HTTP/,
  },
  {
    what: 'a page on every path',
    answer: send('<!doctype html>', { 'content-type': 'text/html' }),
    reason: 'NotJSON',
    cause:
      /serves no card: \/\.well-known\/agent-card\.json sends no JSON: "<" is unexpected \(line 1, column 1\), \/\.well-known\/agent\.json sends no JSON: /,
  },
  { what: 'nothing in the body', answer: send(''), reason: 'NotJSON', cause: /sends no JSON/ },
  {
    what: 'bytes that are no UTF-8',
    answer: send(Buffer.from([0xff, 0xfe, 0x7b])),
    reason: 'NotJSON',
    cause: /sends no JSON: it is not UTF-8/,
  },
  { what: 'a list', answer: send('[]'), reason: 'NotACard', cause: /sends no card: / },
  { what: 'null', answer: send('null'), reason: 'NotACard', cause: /sends no card: / },
  { what: 'one member twice', answer: send('{"name":"a","name":"b"}'), reason: 'NotACard', cause: /sends no card: / },
  {
    what: 'a deep well',
    answer: send('{"a":'.repeat(65) + '1' + '}'.repeat(65)),
    reason: 'NotACard',
    cause: /no card/,
  },
];
