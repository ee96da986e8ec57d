/** Remembers what was found out about each card, so that a card that did not change is not judged again. */

import type { Assessment, Rules } from './assess.ts';
import type { Received } from './contact.ts';

export interface Question {
  readonly received: Received;
  /** Undefined: nothing is verified. */
  readonly rules: Rules | undefined;
  readonly now: Date;
}

export interface Answer {
  /** Undefined: not known. */
  readonly assessment: Assessment | undefined;
  /** It should be judged (anew), and the body that this needs is not kept. */
  readonly needsBody: boolean;
}

export interface Assessments {
  of(uid: string, question: Question): Answer;
  forget(uid: string): void;
}

interface Remembered {
  readonly key: string;
  readonly assessment: Assessment;
  /** After this it is to be judged again: time alone can have changed it. */
  readonly until: number;
}

/** How long a signature that is not good stays so without a second look: one that is not valid yet becomes valid by time alone. */
export const recheckMs = 60_000;

/** `judge` is called only when document, bundle or rules have changed, or a date was crossed. */
export function createAssessments(
  judge: (body: Uint8Array, rules: Rules | undefined, now: Date) => Assessment,
): Assessments {
  const memory = new Map<string, Remembered>();
  return {
    of: (uid, { received, rules, now }) => {
      const key = keyOf(received, rules);
      const remembered = memory.get(uid);
      const known = remembered?.key === key ? remembered : undefined;
      if (known !== undefined && now.getTime() <= known.until) return { ...known, needsBody: false };
      if (received.body === undefined) return { assessment: known?.assessment, needsBody: true };
      const assessment = judge(received.body, rules, now);
      memory.set(uid, { key, assessment, until: untilOf(assessment, now) });
      return { assessment, needsBody: false };
    },
    forget: (uid) => void memory.delete(uid),
  };
}

function keyOf({ hash, path }: Received, rules: Rules | undefined): string {
  if (rules === undefined) return JSON.stringify([hash, path]);
  const { bundle, trustDomain, workload, profiles } = rules;
  return JSON.stringify([
    hash,
    path,
    bundle.hash,
    trustDomain,
    workload?.namespace,
    workload?.serviceAccount,
    profiles,
  ]);
}

function untilOf(assessment: Assessment, now: Date): number {
  if (assessment.kind === 'refused' || assessment.verification === undefined) return Number.POSITIVE_INFINITY;
  const { verification } = assessment;
  return verification.isValid ? verification.expires.getTime() : now.getTime() + recheckMs;
}
