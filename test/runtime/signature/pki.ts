/** Makes certificates of every kind, and signs cards with jose: neither shares code with what is tested. */

import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { FlattenedSign } from 'jose';
import { canonicalJson } from '../../../runtime/encoding/canonical-json.ts';
import type { Json, JsonObject } from '../../../runtime/encoding/strict-json.ts';
import { type Extension, extension, name, oid, sequence, time, tlv } from './der-writer.ts';

export type KeyKind = 'P-256' | 'P-384' | 'P-521' | 'RSA-2048' | 'RSA-1024';

export interface Keys {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
  readonly kind: KeyKind;
}

export function makeKeys(kind: KeyKind = 'P-256'): Keys {
  const pair = kind.startsWith('RSA-')
    ? generateKeyPairSync('rsa', { modulusLength: Number(kind.slice(4)) })
    : generateKeyPairSync('ec', { namedCurve: kind });
  return { ...pair, kind };
}

/** A certificate with its key. */
export interface Issued {
  readonly der: Buffer;
  readonly pem: string;
  readonly keys: Keys;
  readonly subject: string;
}

export interface Wish {
  readonly subject: string;
  /** Absent: self-signed. */
  readonly issuer?: Issued;
  /** Name written as the issuer instead of the issuer's own. */
  readonly issuerName?: string;
  readonly keys?: Keys;
  readonly notBefore?: string;
  readonly notAfter?: string;
  readonly hash?: 'sha1' | 'sha256' | 'sha384' | 'sha512';
  /** The algorithm stated outside what is signed, when it is to differ. */
  readonly outerHash?: Wish['hash'];
  /** The subject's encoding, when it is to be another than that of `subject`. */
  readonly encodedSubject?: Buffer;
  /** 0 is version 1. */
  readonly version?: number;
  readonly extensions: readonly Extension[];
}

/** Key identifiers are added, unless `extensions` brings one of its kind. */
export function issue(wish: Wish): Issued {
  const { subject, issuer, keys = makeKeys(), hash = 'sha256', version = 2 } = wish;
  const signer = issuer?.keys ?? keys;
  const algorithm = signatureAlgorithm(signer.kind, hash);
  const body = sequence(
    version === 0 ? undefined : tlv(0xa0, tlv(0x02, Buffer.from([version]))),
    tlv(0x02, createHash('sha256').update(String(serial++)).digest().subarray(0, 8).fill(0x41, 0, 1)),
    algorithm,
    name(wish.issuerName ?? issuer?.subject ?? subject),
    sequence(time(wish.notBefore ?? '2026-01-01T00:00:00Z'), time(wish.notAfter ?? '2036-01-01T00:00:00Z')),
    wish.encodedSubject ?? name(subject),
    spki(keys),
    version === 0 ? undefined : tlv(0xa3, sequence(...allExtensions(wish, keys).map(({ encoded }) => encoded))),
  );
  const signature = sign(hash, body, signer.privateKey);
  const outer = wish.outerHash === undefined ? algorithm : signatureAlgorithm(signer.kind, wish.outerHash);
  const der = sequence(body, outer, tlv(0x03, Buffer.from([0]), signature));
  const lines = der.toString('base64').replaceAll(/.{64}/g, '$&\n').trimEnd();
  return { der, pem: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`, keys, subject };
}

let serial = 1;

function allExtensions({ extensions, issuer }: Wish, keys: Keys): readonly Extension[] {
  const has = (id: string) => extensions.some((each) => each.oid === id);
  return [
    ...extensions,
    ...(has('2.5.29.14') ? [] : [extension('2.5.29.14', tlv(0x04, keyId(keys)))]),
    ...(issuer === undefined || has('2.5.29.35')
      ? []
      : [extension('2.5.29.35', sequence(tlv(0x80, keyId(issuer.keys))))]),
  ];
}

function spki({ publicKey }: Keys): Buffer {
  return publicKey.export({ type: 'spki', format: 'der' });
}

function keyId(keys: Keys): Buffer {
  return createHash('sha1').update(spki(keys)).digest();
}

function signatureAlgorithm(kind: KeyKind, hash: NonNullable<Wish['hash']>): Buffer {
  const row = ['sha1', 'sha256', 'sha384', 'sha512'].indexOf(hash);
  return kind.startsWith('RSA-')
    ? sequence(oid(`1.2.840.113549.1.1.${[5, 11, 12, 13][row]}`), tlv(0x05))
    : sequence(oid(row === 0 ? '1.2.840.10045.4.1' : `1.2.840.10045.4.3.${row + 1}`));
}

/** Bits of the first byte of key usage. */
export const usage = { digitalSignature: 0x80, keyCertSign: 0x04, cRLSign: 0x02 } as const;

export const basicConstraints = (isCa: boolean, pathLength?: number): Extension =>
  extension(
    '2.5.29.19',
    sequence(
      isCa ? tlv(0x01, Buffer.from([0xff])) : undefined,
      pathLength === undefined ? undefined : tlv(0x02, Buffer.from([pathLength])),
    ),
    true,
  );
export const keyUsage = (bits: number): Extension => extension('2.5.29.15', tlv(0x03, Buffer.from([0, bits])), true);
export const uris = (...values: readonly string[]): Extension =>
  extension('2.5.29.17', sequence(...values.map((value) => tlv(0x86, Buffer.from(value, 'latin1')))));

export const caExtensions = (pathLength?: number): readonly Extension[] => [
  basicConstraints(true, pathLength),
  keyUsage(usage.keyCertSign | usage.cRLSign),
];
export const svidExtensions = (id = 'spiffe://example.org/ns/team1/sa/weather-sa'): readonly Extension[] => [
  basicConstraints(false),
  keyUsage(usage.digitalSignature),
  uris(id),
];

/** A root, an intermediate below it and an SVID: what most tests start from. */
export interface Family {
  readonly root: Issued;
  readonly intermediate: Issued;
  readonly leaf: Issued;
}

export function makeFamily(kind: KeyKind = 'P-256'): Family {
  const root = issue({ subject: 'O=SPIRE, CN=root', extensions: caExtensions() });
  const intermediate = issue({ subject: 'O=SPIRE, CN=int', issuer: root, extensions: caExtensions() });
  const leaf = issue({ subject: 'O=SPIRE', issuer: intermediate, keys: makeKeys(kind), extensions: svidExtensions() });
  return { root, intermediate, leaf };
}

export const base64Of = (...certificates: readonly Issued[]): readonly string[] =>
  certificates.map(({ der }) => der.toString('base64'));

export const keyPem = ({ keys }: Issued): string => keys.privateKey.export({ type: 'pkcs8', format: 'pem' });

const algorithms: Readonly<Record<KeyKind, string>> = {
  'P-256': 'ES256',
  'P-384': 'ES384',
  'P-521': 'ES512',
  'RSA-2048': 'RS256',
  'RSA-1024': 'RS256',
};

export interface Signing {
  readonly keys: Keys;
  /** The protected header; `alg` follows from the key unless it is given. */
  readonly header: Readonly<Record<string, unknown>>;
  /** What is signed instead of the canonical card. */
  readonly payload?: string;
}

export interface Entry {
  readonly protected: string;
  readonly signature: string;
}

/** One entry of `signatures`, made by jose. */
export async function entryFor(card: JsonObject, { keys, header, payload }: Signing): Promise<Entry> {
  const { signatures: _, ...rest } = card;
  const bytes = Buffer.from(payload ?? canonicalJson(rest));
  const signed = await new FlattenedSign(bytes)
    .setProtectedHeader({ alg: algorithms[keys.kind], ...header })
    .sign(keys.privateKey);
  return { protected: signed.protected ?? '', signature: signed.signature };
}

/** The card with one signature by the leaf, its chain in `x5c`. */
export async function signedBy(card: JsonObject, leaf: Issued, ...others: readonly Issued[]): Promise<JsonObject> {
  const entry = await entryFor(card, { keys: leaf.keys, header: { x5c: base64Of(leaf, ...others) } });
  return { ...card, signatures: [entry as unknown as Json] };
}

export const bodyOf = (card: JsonObject): Buffer => Buffer.from(JSON.stringify(card));
