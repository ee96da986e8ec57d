/** SHA-256 as lower-case hex. */

import { hash } from 'node:crypto';

/** Digest of the UTF-8 bytes of `text`, or of the bytes given: 64 hex characters. */
export function sha256Hex(text: string | Uint8Array): string {
  return hash('sha256', text);
}
