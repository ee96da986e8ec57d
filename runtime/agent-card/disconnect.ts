/** What went wrong on the wire, in words: the errors of sockets, of the HTTP parser and of decompression. */

import type { Failure } from './answer.ts';

/** Codes of Node's errors. */
const causes: Readonly<Record<string, Failure>> = Object.freeze({
  ECONNREFUSED: { reason: 'ConnectionFailed', cause: 'cannot be reached: the connection is refused' },
  EHOSTUNREACH: { reason: 'ConnectionFailed', cause: 'cannot be reached: there is no route to its address' },
  ENETUNREACH: { reason: 'ConnectionFailed', cause: 'cannot be reached: there is no route to its address' },
  ETIMEDOUT: { reason: 'Timeout', cause: 'cannot be reached: the connection is not answered' },
  ECONNRESET: { reason: 'ConnectionFailed', cause: 'closed the connection before its answer was complete' },
  EPIPE: { reason: 'ConnectionFailed', cause: 'closed the connection before its answer was complete' },
  Z_BUF_ERROR: { reason: 'ConnectionFailed', cause: 'ended its answer before the compressed body was complete' },
  INTERIM_OVERFLOW: { reason: 'TooLarge', cause: 'sends one interim answer (1xx) after the other' },
  HPE_HEADER_OVERFLOW: { reason: 'TooLarge', cause: 'sends headers of more than 16 KiB' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { reason: 'TooLarge', cause: 'sends chunk extensions of more than 16 KiB' },
});

const families: readonly (readonly [string, Failure])[] = [
  [
    'HPE_',
    { reason: 'ConnectionFailed', cause: 'answers with something that is not HTTP; is its port for TLS or gRPC?' },
  ],
  ['Z_', { reason: 'NotJSON', cause: 'sends a body that is not compressed as its headers say' }],
];

/** By the error's code; one that is not known is named. */
export function disconnect(error: unknown): Failure {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  const family = families.find(([prefix]) => code.startsWith(prefix))?.[1];
  return causes[code] ?? family ?? { reason: 'ConnectionFailed', cause: `cannot be asked (${code})` };
}
