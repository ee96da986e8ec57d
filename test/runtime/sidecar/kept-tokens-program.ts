/** Has both caches see a token that nobody else keeps, and prints which tokens are in a snapshot of its heap. Run with `--expose-gc`. */

import { randomBytes } from 'node:crypto';
import { getHeapSnapshot } from 'node:v8';
import { createMetrics } from '../../../runtime/engine/metrics.ts';
import { systemClock } from '../../../runtime/engine/clock.ts';
import { createVerified } from '../../../runtime/sidecar/inbound/verified.ts';
import { createTokenCache } from '../../../runtime/sidecar/outbound/cache.ts';

const lifeMs = 300_000;
/** Bytes are no strings: those of a token can be kept to look for it. */
const [subject, exchanged] = [randomBytes(36), randomBytes(36)];
const text = (bytes: Buffer) => bytes.toString('base64url');

const tokenFor = createTokenCache({
  fetchToken: () => Promise.resolve({ kind: 'token', token: text(exchanged), lifeSeconds: lifeMs / 1000 }),
  clientId: () => 'agent-a',
  clock: systemClock,
  metrics: createMetrics({ process: false }),
});
const verified = createVerified();

async function seeSubject(): Promise<boolean> {
  const token = text(subject);
  const untilMs = Date.now() + lifeMs;
  verified.has(token, 'generation', Date.now());
  verified.add(token, 'generation', untilMs);
  const wish = { audience: 'tool', scopes: [], tokenUrl: '', subject: { token, expiresAtMs: untilMs } };
  const outcome = await tokenFor(wish, new AbortController().signal);
  return outcome?.kind === 'token' && verified.has(text(subject), 'generation', Date.now());
}

const isSeen = await seeSubject();
globalThis.gc?.();
const chunks: Buffer[] = [];
for await (const chunk of getHeapSnapshot()) chunks.push(Buffer.from(chunk));
const heap = Buffer.concat(chunks);
const has = (bytes: Buffer) => heap.includes(text(bytes));
// Used after the snapshot, so that both caches were alive in it.
const isKept = isSeen && verified.has(text(subject), 'generation', Date.now()) && typeof tokenFor === 'function';
process.stdout.write(JSON.stringify({ isKept, subject: has(subject), exchanged: has(exchanged) }));
