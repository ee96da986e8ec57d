/** AC-04: agents that send next to nothing, and very often. */

import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { withoutEnd } from './agents.ts';
import { head, type Row, tooLarge } from './hostile-rows.ts';

export const floods: readonly Row[] = [
  {
    what: 'interim answers without end',
    raw: (socket) => withoutEnd(socket, Buffer.from('HTTP/1.1 102 Processing\r\n\r\n'.repeat(100))),
    reason: 'TooLarge',
    cause: /one interim answer \(1xx\) after the other/,
  },
  {
    what: 'a body of one byte a chunk',
    raw: (socket) => socket.end(`${head}transfer-encoding: chunked\r\n\r\n${'1\r\n \r\n'.repeat(100_000)}0\r\n\r\n`),
    reason: 'TooLarge',
    cause: /sends its body in more than 8192 pieces/,
  },
  {
    what: 'the same, compressed',
    raw: (socket) => {
      socket.write(`${head}transfer-encoding: chunked\r\ncontent-encoding: gzip\r\n\r\n`);
      const bytes = [...gzipSync(randomBytes(100_000))];
      socket.end(Buffer.concat(bytes.map((byte) => Buffer.from([0x31, 13, 10, byte, 13, 10]))));
    },
    reason: 'TooLarge',
    cause: /sends its body in more than 8192 pieces/,
  },
  {
    what: 'compressed nothing without end',
    // Stored blocks of no bytes (RFC 1951 section 3.2.4), after a header of gzip.
    answer: (response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).write(gzipSync('').subarray(0, 10));
      withoutEnd(response, Buffer.from('000000ffff'.repeat(10_000), 'hex'));
    },
    ...tooLarge,
  },
];
