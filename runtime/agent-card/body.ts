/** Reads an answer's body with its size counted after decompression, so that neither a stream without end nor a bomb is held. */

import { pipeline, type Readable } from 'node:stream';
import { createUnzip } from 'node:zlib';

export interface Answer extends Readable {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export type Body =
  | { readonly kind: 'whole'; readonly bytes: Uint8Array }
  | { readonly kind: 'too-large' }
  /** Compressed with what is not understood, as the agent names it. */
  | { readonly kind: 'unknown-encoding'; readonly encoding: string };

/**
 * gzip and deflate are asked for by nobody but understood; Brotli is not, since its decoder takes up to 16 MiB for each answer.
 * Rejects when the body ends early or is not what its encoding says.
 */
export async function readBody(answer: Answer, maxBytes: number): Promise<Body> {
  const encoding = text(answer.headers['content-encoding']).trim().toLowerCase();
  if (Number(text(answer.headers['content-length'])) > maxBytes) return { kind: 'too-large' };
  if (encoding === '' || encoding === 'identity') return gather(answer, maxBytes);
  if (!['gzip', 'x-gzip', 'deflate'].includes(encoding)) return { kind: 'unknown-encoding', encoding };
  return gather(
    pipeline(answer, createUnzip(), () => {}),
    maxBytes,
  );
}

async function gather(stream: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Body> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > maxBytes) return { kind: 'too-large' };
    chunks.push(chunk);
  }
  return { kind: 'whole', bytes: Buffer.concat(chunks) };
}

function text(header: string | string[] | undefined): string {
  return typeof header === 'string' ? header : '';
}
