/** What tests beside a real SPIRE share: a card, its signing with an SVID, and the verdict of a verifier. */

import assert from 'node:assert/strict';
import type { JsonObject } from '../../runtime/encoding/strict-json.ts';
import { readCard } from '../../runtime/signature/document.ts';
import { signCard } from '../../runtime/signature/sign.ts';
import { parseTrustBundle } from '../../runtime/signature/trust-bundle.ts';
import { type Verification, type VerifyOptions, verifyCard } from '../../runtime/signature/verify.ts';
import type { X509Svid } from '../lab/spire/x509-svid.ts';

export const card = {
  name: 'Weather',
  description: 'Tells the weather',
  version: '1.0.0',
  supportedInterfaces: [{ url: 'http://weather.team1.svc:8080/', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'forecast', name: 'Forecast', description: 'A forecast', tags: ['weather'] }],
};

/** The bytes an agent would serve: `served` (default the card) with one more signature, by that SVID. */
export function signedBy({ key, chain }: X509Svid, served: unknown = card): Buffer {
  return Buffer.from(JSON.stringify(signCard(Buffer.from(JSON.stringify(served)), { key, chain }).card));
}

/** The verdict on what was served, with a bundle as text. Default: now, and any workload of `cluster.local`. */
export function verdict(
  served: Buffer,
  bundle: string,
  options: Partial<Pick<VerifyOptions, 'trustDomain' | 'workload' | 'now'>> = {},
): Verification {
  const trust = parseTrustBundle(bundle);
  assert.deepEqual(trust.warnings, []);
  return verifyCard(cardOf(served), { trustDomain: 'cluster.local', now: new Date(), ...options, bundle: trust });
}

/** The verdict in one word: the reason of a refusal, or of the binding. */
export function word(verification: Verification): string {
  return verification.isValid ? verification.binding.reason : verification.reason;
}

function cardOf(served: Buffer): JsonObject {
  const read = readCard(served);
  if ('refused' in read) assert.fail(read.detail);
  return read.card;
}

/** The id of a workload as SPIRE's controller in Kubernetes makes it. */
export function workloadId(trustDomain: string, namespace: string, serviceAccount: string): string {
  return `spiffe://${trustDomain}/ns/${namespace}/sa/${serviceAccount}`;
}
