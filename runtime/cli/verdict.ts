/** What the commands say about a card: the seven steps as a table, the verdict in one object. */

import type { KeyObject } from 'node:crypto';
import { readCard } from '../signature/document.ts';
import { isRefusal, plain } from '../signature/refusal.ts';
import {
  type Attempt,
  attemptsOf,
  type Step,
  steps,
  type Verification,
  verifyCard,
  type VerifyOptions,
} from '../signature/verify.ts';

/** For programs. `verified` says that the signature is good and that the signer may sign. */
export interface Verdict {
  readonly verified: boolean;
  readonly bound: boolean;
  /** The signature and its chain alone. */
  readonly signatureValid: boolean;
  readonly spiffeId: string | null;
  readonly keyId: string | null;
  readonly algorithm: string | null;
  readonly profile: string | null;
  readonly expires: string | null;
  /** `ok`, or why not. */
  readonly reason: string;
  readonly detail: string;
  /** JSON pointers of what was served and is not covered. */
  readonly unsigned: readonly string[];
}

export interface Judged {
  readonly verdict: Verdict;
  /** The steps of each entry that was tried; none: there was no entry to try. */
  readonly attempts: readonly Attempt[];
}

export function judged(body: Uint8Array, options: VerifyOptions): Judged {
  const read = readCard(body);
  if ('refused' in read) return { verdict: verdictOf({ isValid: false, ...read }), attempts: [] };
  const attempts = attemptsOf(read.card, options);
  return { verdict: verdictOf(verifyCard(read.card, options)), attempts: isRefusal(attempts) ? [] : attempts };
}

const bindingReasons = {
  Bound: 'ok',
  TrustDomainMismatch: 'trust-domain-mismatch',
  WorkloadMismatch: 'workload-mismatch',
} as const;

const unknown = { spiffeId: null, keyId: null, algorithm: null, profile: null, expires: null, unsigned: [] } as const;

function verdictOf(result: Verification): Verdict {
  if (!result.isValid) {
    const { reason, detail } = result;
    return { verified: false, bound: false, signatureValid: false, ...unknown, reason, detail };
  }
  const { isBound, binding, spiffeId, keyId = null, algorithm, profile, expires, unsigned } = result;
  return {
    verified: isBound,
    bound: isBound,
    signatureValid: true,
    spiffeId,
    keyId,
    algorithm,
    profile,
    expires: instant(expires.getTime()),
    reason: bindingReasons[binding.reason],
    detail: binding.message,
    unsigned,
  };
}

function instant(time: number): string {
  return new Date(time).toISOString().replace('.000Z', 'Z');
}

const titles: Readonly<Record<Step, string>> = {
  header: 'protected header',
  chain: 'certificate chain',
  identity: 'SPIFFE ID',
  key: 'key and algorithm',
  payload: 'canonical payload',
  input: 'signing input',
  signature: 'signature',
};

/** The verdict in lines for people. */
export function tableOf({ verdict, attempts }: Judged): string {
  const { verified, reason, detail, expires, unsigned } = verdict;
  const lines = attempts.flatMap((attempt, at) => [
    ...(attempts.length > 1 ? [`signature ${at + 1}`] : []),
    ...attemptLines(attempt),
  ]);
  const left =
    unsigned.length === 0
      ? []
      : [`not covered by the signature: ${unsigned.map((each) => plain(each, 200)).join(', ')}`];
  const end = verified ? `verified until ${expires}` : `not verified (${reason}): ${detail}`;
  return `${[...lines, ...left, end].join('\n')}\n`;
}

/** Steps after the one that failed were not taken. */
function attemptLines(attempt: Attempt): readonly string[] {
  const { ended, binding } = attempt;
  const last = ended === undefined ? steps.length : steps.indexOf(ended.step);
  const taken = steps.map((step, at) => {
    if (at < last) return row(at + 1, titles[step], 'pass', notes[step](attempt));
    if (at > last || ended === undefined) return row(at + 1, titles[step], '-', '');
    return row(at + 1, titles[step], 'FAIL', `${ended.refusal.reason}: ${ended.refusal.detail}`);
  });
  if (binding === undefined) return taken;
  const isBound = binding.reason === 'Bound';
  return [...taken, row(undefined, 'identity binding', isBound ? 'pass' : 'FAIL', binding.message)];
}

function row(number: number | undefined, title: string, mark: string, note: string): string {
  return `  ${String(number ?? '').padStart(1)}  ${title.padEnd(18)} ${mark.padEnd(4)}  ${note}`.trimEnd();
}

/** What a step that passed found. */
const notes: Readonly<Record<Step, (attempt: Attempt) => string>> = {
  header: ({ header }) => `${header?.algorithm.name}, ${header?.x5c.length} in x5c, kid ${header?.keyId ?? 'none'}`,
  chain: ({ path }) =>
    `${path?.certificates.length} certificates with the anchor, valid until ${instant(path?.expires ?? 0)}`,
  identity: ({ identity }) => plain(identity?.text ?? '', 300),
  key: ({ header, path }) => `the ${keyName(path?.leaf.publicKey)} key of the leaf fits ${header?.algorithm.name}`,
  payload: ({ payload }) => (payload === undefined ? 'made in every form that counts' : `profile ${payload.profile}`),
  input: () => 'the protected header as served, and the payload',
  signature: () => 'made by the key of the leaf certificate',
};

function keyName(key: KeyObject | undefined): string {
  return key?.asymmetricKeyDetails?.namedCurve ?? (key?.asymmetricKeyType ?? '').toUpperCase();
}
