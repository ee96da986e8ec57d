/** What the extensions of a certificate say, as far as a path and an X.509-SVID depend on them (RFC 5280 section 4.2). */

import {
  booleanOf,
  constructed,
  cursor,
  DerError,
  type Element,
  elements,
  oidOf,
  only,
  primitive,
  smallIntegerOf,
  tags,
} from './der.ts';

/** Bits of key usage (RFC 5280 section 4.2.1.3), the first being the most significant one of the first byte. */
export const keyUsages = Object.freeze({ digitalSignature: 0x80, keyCertSign: 0x04, cRLSign: 0x02 });

/** Names a certificate may have beside its subject. */
export interface AlternativeNames {
  /** Every URI, of any scheme, as Latin-1 text: whoever reads one checks its grammar. */
  readonly uris: readonly string[];
  /** Tags of all names: `primitive(6)` is a URI. */
  readonly kinds: ReadonlySet<number>;
}

export interface NameConstraints {
  /** Hosts of URIs; undefined: URIs are not constrained to some. */
  readonly permittedUris: readonly string[] | undefined;
  readonly excludedUris: readonly string[];
  /** Tags of constraints on other names than URIs. */
  readonly otherKinds: ReadonlySet<number>;
}

export interface Extensions {
  readonly isCa: boolean;
  /** How many authorities may follow towards the leaf; undefined: any number. */
  readonly pathLength: number | undefined;
  /** The first byte of key usage; undefined: the extension is absent. */
  readonly keyUsage: number | undefined;
  readonly names: AlternativeNames;
  readonly constraints: NameConstraints | undefined;
  /** Key identifiers as hex. */
  readonly subjectKey: string | undefined;
  readonly authorityKey: string | undefined;
  /** The first critical extension that is none of those understood here. */
  readonly unknownCritical: string | undefined;
}

const oids = {
  subjectKey: '2.5.29.14',
  keyUsage: '2.5.29.15',
  alternativeNames: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  authorityKey: '2.5.29.35',
  /** Any is good for signing a card, so its value is not looked at. */
  extendedKeyUsage: '2.5.29.37',
} as const;
const understood: ReadonlySet<string> = new Set(Object.values(oids));

interface Extension {
  readonly isCritical: boolean;
  readonly value: Uint8Array;
}

/** Reads `Extensions ::= SEQUENCE OF Extension`, or none. Throws `DerError`, also when one occurs twice. */
export function extensionsIn(encoded: Uint8Array | undefined): Extensions {
  const all = encoded === undefined ? new Map<string, Extension>() : extensionMap(encoded);
  const read = <T>(oid: string, reader: (value: Uint8Array) => T): T | undefined => {
    const extension = all.get(oid);
    return extension === undefined ? undefined : reader(extension.value);
  };
  const basic = read(oids.basicConstraints, basicConstraints);
  return {
    isCa: basic?.isCa ?? false,
    pathLength: basic?.pathLength,
    keyUsage: read(oids.keyUsage, keyUsage),
    names: read(oids.alternativeNames, alternativeNames) ?? { uris: [], kinds: new Set() },
    constraints: read(oids.nameConstraints, nameConstraints),
    subjectKey: read(oids.subjectKey, (value) => hex(only(value, tags.octetString).content)),
    authorityKey: read(oids.authorityKey, authorityKey),
    unknownCritical: [...all].find(([oid, { isCritical }]) => isCritical && !understood.has(oid))?.[0],
  };
}

function extensionMap(encoded: Uint8Array): ReadonlyMap<string, Extension> {
  const all = new Map<string, Extension>();
  for (const { tag, content } of elements(only(encoded, tags.sequence).content)) {
    if (tag !== tags.sequence) throw new DerError('an extension is no sequence');
    const parts = cursor(content);
    const oid = oidOf(parts.required(tags.oid));
    const critical = parts.optional(tags.boolean);
    const value = parts.required(tags.octetString).content;
    parts.end();
    if (all.has(oid)) throw new DerError(`the extension ${oid} occurs twice`);
    all.set(oid, { isCritical: critical !== undefined && booleanOf(critical), value });
  }
  return all;
}

function basicConstraints(value: Uint8Array): { readonly isCa: boolean; readonly pathLength: number | undefined } {
  const parts = cursor(only(value, tags.sequence).content);
  const ca = parts.optional(tags.boolean);
  const length = parts.optional(tags.integer);
  parts.end();
  return {
    isCa: ca !== undefined && booleanOf(ca),
    pathLength: length === undefined ? undefined : smallIntegerOf(length),
  };
}

/** A BIT STRING: how many bits of the last byte are unused, then the bits. */
function keyUsage(value: Uint8Array): number {
  const [unused = 0xff, bits = 0, ...more] = only(value, tags.bitString).content;
  if (unused > 7 || more.length > 1) throw new DerError('the key usage is out of range');
  return bits;
}

function alternativeNames(value: Uint8Array): AlternativeNames {
  const names = elements(only(value, tags.sequence).content);
  return {
    uris: names.filter(({ tag }) => tag === primitive(6)).map(latin1),
    kinds: new Set(names.map(({ tag }) => tag)),
  };
}

function nameConstraints(value: Uint8Array): NameConstraints {
  const parts = cursor(only(value, tags.sequence).content);
  const permitted = subtrees(parts.optional(constructed(0)));
  const excluded = subtrees(parts.optional(constructed(1)));
  parts.end();
  const uris = (bases: readonly Element[]) => bases.filter(({ tag }) => tag === primitive(6)).map(latin1);
  const permittedUris = uris(permitted);
  return {
    permittedUris: permittedUris.length === 0 ? undefined : permittedUris,
    excludedUris: uris(excluded),
    otherKinds: new Set([...permitted, ...excluded].map(({ tag }) => tag).filter((tag) => tag !== primitive(6))),
  };
}

/** `minimum` and `maximum` are not used in this profile (RFC 5280 section 4.2.1.10), so a subtree is its base. */
function subtrees(list: Element | undefined): readonly Element[] {
  return elements(list?.content ?? new Uint8Array()).map(({ content }) => {
    const [base, ...rest] = elements(content);
    if (base === undefined || rest.length > 0) throw new DerError('a name constraint has more than its base');
    return base;
  });
}

function authorityKey(value: Uint8Array): string | undefined {
  const key = elements(only(value, tags.sequence).content).find(({ tag }) => tag === primitive(0));
  return key === undefined ? undefined : hex(key.content);
}

function latin1({ content }: Element): string {
  return Buffer.from(content).toString('latin1');
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
