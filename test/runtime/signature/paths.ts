/** What tests of paths share: a family of certificates, branches below its root, and the outcome of a path. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validatePath } from '../../../runtime/signature/chain.ts';
import { isRefusal } from '../../../runtime/signature/refusal.ts';
import { parseTrustBundle } from '../../../runtime/signature/trust-bundle.ts';
import { type Issued, caExtensions, issue, makeFamily, svidExtensions, type Wish } from './pki.ts';
import { now } from './vectors.ts';

export interface PathCase {
  readonly because: string;
  readonly x5c: readonly Issued[] | readonly string[];
  readonly bundle: readonly Issued[];
  /** Undefined: the path is good. */
  readonly reason?: string;
  readonly at?: Date;
  /** How many certificates the path has, anchor included. */
  readonly length?: number;
}

export function outcome({ x5c, bundle, at = now }: Omit<PathCase, 'because'>) {
  const texts = x5c.map((each) => (typeof each === 'string' ? each : each.der.toString('base64')));
  const trusted = parseTrustBundle(bundle.map(({ pem }) => pem).join(''));
  return validatePath(texts, trusted, at);
}

export const { root, intermediate, leaf } = makeFamily();

/** A leaf and its own intermediate below the root. */
export function below(
  wish: Partial<Wish>,
  leafWish: Partial<Wish> = {},
): readonly [leaf: Issued, intermediate: Issued] {
  const authority = issue({ subject: 'O=SPIRE, CN=int2', issuer: root, extensions: caExtensions(), ...wish });
  const svid = issue({ subject: 'O=SPIRE', issuer: authority, extensions: svidExtensions(), ...leafWish });
  return [svid, authority];
}

/** One test a case. */
export function expectPaths(cases: readonly PathCase[]): void {
  for (const each of cases) {
    test(`path: ${each.because}: ${each.reason ?? 'good'}`, () => {
      const result = outcome(each);
      if (isRefusal(result)) {
        assert.equal(result.reason, each.reason, result.detail);
        return;
      }
      assert.equal(each.reason, undefined);
      assert.equal(result.certificates.length, each.length);
    });
  }
}
