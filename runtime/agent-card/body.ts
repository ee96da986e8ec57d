/** Reads an answer's body with its size counted before and after decompression, so that neither a stream without end nor a bomb is held. */

import { pipeline, type Readable } from 'node:stream';
import { createUnzip } from 'node:zlib';
import { BodyExceeds, gather, within } from '../encoding/gather.ts';

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

/** Pieces of a body: a network makes a thousand of one MiB. */
export const maxPieces = 8_192;

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
  const bounds = { maxBytes, maxPieces };
  const sent = (stream: AsyncIterable<Uint8Array>) => within(stream, bounds);
  try {
    const bytes = await gather(isPlain ? answer : pipeline(answer, sent, createUnzip(), () => {}), bounds);
    return { kind: 'whole', bytes };
  } catch (error) {
    if (error instanceof BodyExceeds) return { kind: error.what === 'bytes' ? 'too-large' : 'shredded' };
    throw error;
  }
}

function text(header: string | string[] | undefined): string {
  return typeof header === 'string' ? header : '';
}
