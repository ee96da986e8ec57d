/** How gRPC puts messages on a stream: a byte that says whether it is compressed, four of length, then the message. */

const prefix = 5;

/** A message as it is sent. */
export function framed(message: Uint8Array): Buffer {
  const out = Buffer.allocUnsafe(prefix + message.length);
  out[0] = 0;
  out.writeUInt32BE(message.length, 1);
  out.set(message, prefix);
  return out;
}

/** No message has come whole yet, what comes is none that we read, or the first one. */
export type First =
  | { readonly kind: 'wait' }
  | { readonly kind: 'bad' }
  | { readonly kind: 'message'; readonly bytes: Buffer };

/** The first message of what has arrived so far. Bad: compressed, which nobody offered, or longer than `most` bytes. */
export function firstMessage(arrived: Buffer, most: number): First {
  if (arrived.length < prefix) return { kind: 'wait' };
  const length = arrived.readUInt32BE(1);
  if (arrived[0] !== 0 || length > most) return { kind: 'bad' };
  if (arrived.length < prefix + length) return { kind: 'wait' };
  return { kind: 'message', bytes: arrived.subarray(prefix, prefix + length) };
}
