/** Verifying card signatures in this process: against the bare signature check by node:crypto and by jose, and what a hostile card costs. */

import { verify } from 'node:crypto';
import { flattenedVerify } from 'jose';
import { canonicalJson } from '../../runtime/encoding/canonical-json.ts';
import type { Json, JsonObject } from '../../runtime/encoding/strict-json.ts';
import { readCard } from '../../runtime/signature/document.ts';
import { forgetAll } from '../../runtime/signature/forget.ts';
import { signCard } from '../../runtime/signature/sign.ts';
import { parseTrustBundle, type TrustBundle } from '../../runtime/signature/trust-bundle.ts';
import { verifyCard } from '../../runtime/signature/verify.ts';
import {
  bodyOf,
  caExtensions,
  type Entry,
  issue,
  type Issued,
  type KeyKind,
  keyPem,
  makeKeys,
  svidExtensions,
} from '../runtime/signature/pki.ts';
import { bytesOf } from '../runtime/signature/vectors.ts';
import type { Figure, Finding } from './figures.ts';
import { microseconds } from './micro.ts';
import type { World } from './world.ts';

const now = new Date('2026-12-15T12:00:00Z');
const trustDomain = 'example.org';

interface Bed {
  readonly leaf: Issued;
  readonly bundle: TrustBundle;
  readonly body: Buffer;
}

/** A card signed by an SVID with one intermediate below the root, as SPIRE with an upstream authority issues them. */
function bedOf(kind: KeyKind): Bed {
  const root = issue({ subject: 'O=SPIRE, CN=root', keys: makeKeys(kind), extensions: caExtensions() });
  const between = issue({ subject: 'O=SPIRE, CN=int', keys: makeKeys(kind), issuer: root, extensions: caExtensions() });
  const leaf = issue({ subject: 'O=SPIRE', keys: makeKeys(kind), issuer: between, extensions: svidExtensions() });
  const { card } = signCard(bytesOf('parse/a2a-1.0.json'), { key: keyPem(leaf), chain: leaf.pem + between.pem });
  return { leaf, bundle: parseTrustBundle(root.pem), body: bodyOf(card) };
}

function whole({ body, bundle }: Pick<Bed, 'body' | 'bundle'>): boolean {
  const read = readCard(body);
  return 'card' in read && verifyCard(read.card, { bundle, trustDomain, now }).isValid;
}

async function ofAlgorithm(name: string, kind: KeyKind, calls: number): Promise<readonly Figure[]> {
  const bed = bedOf(kind);
  if (!whole(bed)) throw new Error(`the card of the benchmark is not verified with ${name}`);
  const { signatures, ...card } = JSON.parse(bed.body.toString()) as { readonly signatures: readonly Entry[] };
  const [entry] = signatures;
  if (entry === undefined) throw new Error('the card of the benchmark has no signature');
  const payload = Buffer.from(canonicalJson(card)).toString('base64url');
  const { publicKey } = bed.leaf.keys;
  const input = Buffer.from(`${entry.protected}.${payload}`);
  const signature = Buffer.from(entry.signature, 'base64url');
  const bare = microseconds(calls, () =>
    verify('sha256', input, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature),
  );
  const jose = await asyncMicroseconds(calls, () =>
    flattenedVerify({ ...entry, payload }, publicKey, { algorithms: [name] }),
  );
  const warm = microseconds(calls, () => whole(bed));
  const cold = microseconds(Math.ceil(calls / 5), () => {
    forgetAll();
    return whole(bed);
  });
  const against = (time: number): string =>
    `${(1e6 / time).toFixed(0)} cards/s; ${(time / bare).toFixed(1)} times the bare signature, ${(time / jose).toFixed(1)} times jose's`;
  return [
    { what: `${name}: the bare signature, node:crypto`, value: bare, unit: 'µs' },
    { what: `${name}: the bare signature, jose with the key at hand`, value: jose, unit: 'µs' },
    { what: `${name}: body to verdict, path remembered`, value: warm, unit: 'µs', ratio: against(warm) },
    { what: `${name}: body to verdict, nothing remembered`, value: cold, unit: 'µs', ratio: against(cold) },
  ];
}

/** As `microseconds`, one call after the other. */
async function asyncMicroseconds(calls: number, work: () => Promise<unknown>): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round < 8; round++) {
    const begun = performance.now();
    for (let call = 0; call < calls; call++) await work();
    rounds.push(((performance.now() - begun) * 1000) / calls);
  }
  // The first round warms up.
  return rounds.slice(1).sort((a, b) => a - b)[3] ?? Number.NaN;
}

/** Eight entries with eight certificates each, all different, trusted or not; every form of the payload is another one. */
function manyChains(isTrusted: boolean, bytes: number): Pick<Bed, 'body' | 'bundle'> {
  const root = issue({ subject: 'CN=root', extensions: caExtensions() });
  const content: JsonObject = {
    name: '<'.repeat(bytes),
    capabilities: { extensions: [{ uri: 'u', required: false, description: '' }] },
    provider: {},
  };
  const entries = Array.from({ length: 8 }, (_, at): Json => {
    const line: Issued[] = [root];
    for (let depth = 0; depth < 7; depth++) {
      const issuer = line[0] ?? root;
      line.unshift(issue({ subject: `CN=${at} ${depth}`, issuer, extensions: caExtensions() }));
    }
    const leaf = issue({ subject: 'O=SPIRE', issuer: line[0] ?? root, extensions: svidExtensions() });
    const chain = [leaf, ...line.slice(0, -1)].map(({ pem }) => pem).join('');
    const { card } = signCard(Buffer.from('{"another":"card"}'), { key: keyPem(leaf), chain });
    return (card['signatures'] as readonly Json[])[0] ?? null;
  });
  const other = issue({ subject: 'CN=root', extensions: caExtensions() });
  const bundle = parseTrustBundle(isTrusted ? root.pem : other.pem);
  return { bundle, body: bodyOf({ ...content, signatures: entries }) };
}

function hostile(world: World): readonly Figure[] {
  const { bundle } = bedOf('P-256');
  const wide = Array.from({ length: 60_000 }, (_, at) => `"member${at}":0`).join();
  const bodies: readonly (readonly [what: string, bed: Pick<Bed, 'body' | 'bundle'>])[] = [
    ['8 signatures of 8 certificates, no anchor', manyChains(false, 100)],
    ['8 signatures of 8 certificates, trusted, none matches', manyChains(true, 100)],
    ['the same, with a card of 900 KiB', manyChains(true, 900 * 1024)],
    ['300 certificates', { bundle, body: bytesOf('cards/bad-chain-300-copies.json') }],
    ['1 MiB of nesting', { bundle, body: Buffer.from('{"a":'.repeat(200_000)) }],
    ['1 MiB of members, the last one twice', { bundle, body: Buffer.from(`{${wide},"member0":0}`) }],
    ['1 MiB of empty lists', { bundle, body: Buffer.from(`{"a":[${'[],'.repeat(340_000)}0],"signatures":[]}`) }],
  ];
  return bodies.map(([what, bed]) => {
    const time = microseconds(world.size(3), () => {
      forgetAll();
      if (whole(bed)) throw new Error(`${what}: verified`);
    });
    return { what: `hostile: ${what}`, value: time / 1000, unit: 'ms' };
  });
}

export async function measureVerification(world: World): Promise<Finding> {
  world.say('verification: signatures of cards');
  const calls = world.size(1_000);
  return {
    title: 'verification: signatures of cards',
    how:
      'In this process, after warming up; medians of seven rounds. An A2A 1.0 card of 1.3 KB with one intermediate in x5c; from the served bytes to the verdict: ' +
      'strict parsing, path, SPIFFE ID, canonical form, signature. "Bare" is the last step alone on bytes that lie ready. The cost of hostile cards is with nothing remembered.',
    figures: [
      ...(await ofAlgorithm('ES256', 'P-256', calls)),
      ...(await ofAlgorithm('RS256', 'RSA-2048', calls)),
      ...hostile(world),
    ],
  };
}
