/** Reads an answer's body with its size counted before and after decompression, so that neither a stream without end nor a bomb is held. */

import { pipeline, type Readable } from 'node:stream';
import { createUnzip } from 'node:zlib';

export interface Answer extends Readable {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export type Body =
  | { readonly kind: 'whole'; readonly bytes: Uint8Array }
  | { readonly kind: 'too-large' }
  /** Of so many pieces that each costs more than what is in it. */
  | { readonly kind: 'shredded' }
  /** Compressed with what is not understood, as the agent names it. */
  | { readonly kind: 'unknown-encoding'; readonly encoding: string };

/** Pieces of a body: a network makes a thousand of one MiB, a chunk (RFC 9112 section 7.1) may hold a single byte. */
export const maxPieces = 8_192;

type Excess = Extract<Body, { readonly kind: 'too-large' | 'shredded' }>;

class Exceeded extends Error {
  readonly body: Excess;
  constructor(kind: Excess['kind']) {
    super(kind);
    this.body = { kind };
  }
}

/**
 * gzip and deflate are asked for by nobody but understood; Brotli is not, since its decoder takes up to 16 MiB for each answer. `maxBytes` holds
 * for what is sent and for what it becomes.
 * Rejects when the body ends early or is not what its encoding says.
 */
export async function readBody(answer: Answer, maxBytes: number): Promise<Body> {
  const encoding = text(answer.headers['content-encoding']).trim().toLowerCase();
  if (Number(text(answer.headers['content-length'])) > maxBytes) return { kind: 'too-large' };
  const isPlain = encoding === '' || encoding === 'identity';
  if (!isPlain && !['gzip', 'x-gzip', 'deflate'].includes(encoding)) return { kind: 'unknown-encoding', encoding };
  const bounded = (stream: AsyncIterable<Uint8Array>) => within(stream, maxBytes);
  try {
    const bytes = await gather(bounded(isPlain ? answer : pipeline(answer, bounded, createUnzip(), () => {})));
    return { kind: 'whole', bytes };
  } catch (error) {
    if (error instanceof Exceeded) return error.body;
    throw error;
  }
}

/** The same pieces, until they are too many or too large together. */
async function* within(stream: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  let pieces = 0;
  for await (const piece of stream) {
    size += piece.length;
    pieces += 1;
    if (size > maxBytes) throw new Exceeded('too-large');
    if (pieces > maxPieces) throw new Exceeded('shredded');
    yield piece;
  }
}

/** Copied as they come: a piece that is kept keeps the whole of what it was cut from. */
async function gather(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  let bytes = Buffer.alloc(4_096);
  let size = 0;
  for await (const piece of stream) {
    if (size + piece.length > bytes.length)
      bytes = Buffer.concat([bytes], Math.max(2 * bytes.length, size + piece.length));
    bytes.set(piece, size);
    size += piece.length;
  }
  return Buffer.from(bytes.subarray(0, size));
}

function text(header: string | string[] | undefined): string {
  return typeof header === 'string' ? header : '';
}
