/** Reads a body of untrusted origin whole: bounded in bytes, and in the pieces it comes in, each of which costs more than the few bytes it may hold. */

import { Buffer } from 'node:buffer';

export interface Bounds {
  readonly maxBytes: number;
  /** Default 16,384: what a network makes of 16 MiB. A chunk (RFC 9112 section 7.1) may hold a single byte. */
  readonly maxPieces?: number;
}

/** `bytes`: it is larger. `pieces`: it comes in more of them. */
export class BodyExceeds extends Error {
  readonly code = 'BODY_EXCEEDS';
  readonly what: 'bytes' | 'pieces';
  constructor(what: 'bytes' | 'pieces', most: number) {
    super(what === 'bytes' ? `the body is larger than ${most} bytes` : `the body comes in more than ${most} pieces`);
    this.what = what;
  }
}

/** All of it, in memory of its own: a piece that is kept keeps the whole of what it was cut from. Rejects with `BodyExceeds`, or as the stream does. */
export async function gather(stream: AsyncIterable<Uint8Array>, bounds: Bounds): Promise<Buffer> {
  let bytes = Buffer.alloc(4_096);
  let size = 0;
  for await (const piece of within(stream, bounds)) {
    if (size + piece.length > bytes.length) {
      bytes = Buffer.concat([bytes], Math.max(2 * bytes.length, size + piece.length));
    }
    bytes.set(piece, size);
    size += piece.length;
  }
  return Buffer.from(bytes.subarray(0, size));
}

/** The same pieces, until they are too many or too large together: throws `BodyExceeds` then. */
export async function* within(
  stream: AsyncIterable<Uint8Array>,
  { maxBytes, maxPieces = 16_384 }: Bounds,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  let pieces = 0;
  for await (const piece of stream) {
    size += piece.length;
    pieces += 1;
    if (size > maxBytes) throw new BodyExceeds('bytes', maxBytes);
    if (pieces > maxPieces) throw new BodyExceeds('pieces', maxPieces);
    yield piece;
  }
}
