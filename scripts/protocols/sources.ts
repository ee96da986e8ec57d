/** What the generated descriptors are made from, so that a test can tell when they are stale without Go. */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

export const protocolSources = ['go.mod', 'go.sum', 'main.go'] as const;

/** SHA-256 of the sources' bytes, in their order. */
export function digestOfSources(): string {
  const hash = createHash('sha256');
  for (const name of protocolSources) hash.update(readFileSync(path.join(import.meta.dirname, name)));
  return hash.digest('hex');
}
