/** The path from the certificate that signed to an anchor of the bundle: built once for one `x5c` and bundle, its dates judged at every use. */

import { bytesOfBase64 } from '../encoding/base64.ts';
import { sha256Hex } from '../encoding/digest.ts';
import { type Certificate, certificateOf } from './certificate.ts';
import {
  authorityRefusal,
  dateRefusal,
  leafRefusal,
  type Placed,
  signatureAlgorithmRefusal,
} from './certificate-rules.ts';
import { createLru } from './lru.ts';
import { constraintViolation } from './name-constraints.ts';
import { isRefusal, type Refusal, refusal } from './refusal.ts';
import type { TrustBundle } from './trust-bundle.ts';

/** Most certificates in one `x5c`. */
export const mostCertificates = 8;

/** Leaf first, anchor last; every rule holds at the time asked for. */
export interface Path {
  readonly leaf: Certificate;
  readonly certificates: readonly Certificate[];
  /** The first end of validity in the path, milliseconds since 1970. */
  readonly expires: number;
}

/** A path but for its dates: what was sent, without anchors, and every anchor that certifies the last of it. */
interface Built {
  readonly sent: readonly Placed[];
  readonly anchors: readonly Placed[];
}

const cache = createLru<Built | Refusal>(16 * 1024 * 1024);

/** For measurements: paths that were built before are built again. */
export function forgetChains(): void {
  cache.clear();
}

/** `x5c` as in the protected header: the leaf first, each next one certifies the one before (RFC 7515 section 4.1.6). Never throws. */
export function validatePath(x5c: readonly string[], bundle: TrustBundle, now: Date): Path | Refusal {
  const built = remembered(x5c, bundle);
  return isRefusal(built) ? built : datedPath(built, now.getTime());
}

function remembered(x5c: readonly string[], bundle: TrustBundle): Built | Refusal {
  if (x5c.length > mostCertificates) {
    return refusal('limit-exceeded', `x5c holds ${x5c.length} certificates; at most ${mostCertificates} are looked at`);
  }
  const key = `${bundle.hash} ${sha256Hex(JSON.stringify(x5c))}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  const built = build(x5c, bundle);
  cache.set(key, built, isRefusal(built) ? 2048 : weightOf(built));
  return built;
}

function weightOf({ sent }: Built): number {
  return sent.reduce((sum, { certificate }) => sum + certificate.der.length + 4096, 1024);
}

function build(x5c: readonly string[], bundle: TrustBundle): Built | Refusal {
  const all = readAll(x5c);
  if (isRefusal(all)) return all;
  if (bundle.anchors.length === 0) {
    return refusal('no-trust-anchors', `the trust bundle holds no certificate: ${bundle.warnings[0] ?? 'it is empty'}`);
  }
  const sent = withoutAnchors(all, bundle);
  return sentRefusal(sent) ?? linksRefusal(all) ?? anchored(sent, bundle);
}

/** Why these certificates, leaf first, cannot begin a path to an anchor; undefined: they can. Dates are not looked at. */
export function chainRefusal(certificates: readonly Certificate[]): Refusal | undefined {
  const all = certificates.map((certificate, at) => ({ certificate, name: nameOf(at) }));
  return sentRefusal(all) ?? linksRefusal(all);
}

function sentRefusal(sent: readonly Placed[]): Refusal | undefined {
  const [leaf, ...authorities] = sent;
  if (leaf === undefined) return refusal('x5c-missing', 'there is no certificate');
  return leafRefusal(leaf) ?? firstOf(authorities, authorityRefusal) ?? firstOf(sent, signatureAlgorithmRefusal);
}

function nameOf(at: number): string {
  return at === 0 ? 'the leaf certificate' : `certificate ${at + 1} of x5c`;
}

function readAll(x5c: readonly string[]): readonly Placed[] | Refusal {
  const all: Placed[] = [];
  for (const [at, text] of x5c.entries()) {
    const name = nameOf(at);
    const der = bytesOfBase64(text);
    const certificate = der === undefined ? 'it is no plain base64 (RFC 4648 section 4)' : certificateOf(der);
    if (typeof certificate === 'string') return refusal('x5c-malformed', `${name} cannot be read: ${certificate}`);
    all.push({ certificate, name });
  }
  return all;
}

/** Anchors may be repeated at the end of `x5c`: they say nothing there. The first certificate is never one. */
function withoutAnchors(all: readonly Placed[], { anchors }: TrustBundle): readonly Placed[] {
  const known = new Set(anchors.map(({ fingerprint }) => fingerprint));
  const last = all.findLastIndex(({ certificate }, at) => at === 0 || !known.has(certificate.fingerprint));
  return all.slice(0, last + 1);
}

function firstOf(placed: readonly Placed[], rule: (placed: Placed) => Refusal | undefined): Refusal | undefined {
  for (const each of placed) {
    const found = rule(each);
    if (found !== undefined) return found;
  }
  return undefined;
}

function linksRefusal(all: readonly Placed[]): Refusal | undefined {
  for (const [at, { certificate, name }] of all.entries()) {
    const issuer = all[at + 1];
    if (issuer !== undefined && !isIssuedBy(certificate, issuer.certificate)) {
      return refusal(
        'untrusted-chain',
        `${issuer.name} did not issue ${name}; x5c lists each issuer after what it issued`,
      );
    }
  }
  return undefined;
}

function anchored(sent: readonly Placed[], { anchors }: TrustBundle): Built | Refusal {
  const last = sent.at(-1);
  const issuers = anchors
    .filter((anchor) => last !== undefined && isIssuedBy(last.certificate, anchor))
    .map((certificate): Placed => ({ certificate, name: 'the trust anchor' }));
  if (issuers.length === 0) {
    return refusal('untrusted-chain', `no certificate of the trust bundle issued ${last?.name}, the last of the chain`);
  }
  const verdicts = issuers.map((anchor) => ({ anchor, verdict: pathRefusal([...sent, anchor]) }));
  const good = verdicts.filter(({ verdict }) => verdict === undefined).map(({ anchor }) => anchor);
  const [first] = verdicts;
  return good.length === 0 && first?.verdict !== undefined ? first.verdict : { sent, anchors: good };
}

/** Names and key identifiers agree, and the signature is good. */
function isIssuedBy(certificate: Certificate, issuer: Certificate): boolean {
  const { authorityKey } = certificate;
  const isSameKey = authorityKey === undefined || issuer.subjectKey === undefined || authorityKey === issuer.subjectKey;
  if (certificate.issuer !== issuer.subject || !isSameKey || issuer.publicKey === undefined) return false;
  return certificate.isSignedBy(issuer.publicKey);
}

/** Rules about more than one certificate of a whole path, anchor included. */
function pathRefusal(path: readonly Placed[]): Refusal | undefined {
  const anchor = path.slice(-1);
  return firstOf(anchor, authorityRefusal) ?? lengthRefusal(path) ?? constraintRefusal(path);
}

/** Authorities that issued themselves a certificate do not count (RFC 5280 section 4.2.1.9). */
function lengthRefusal(path: readonly Placed[]): Refusal | undefined {
  let below = 0;
  for (const { certificate, name } of path.slice(1)) {
    const { pathLength = Infinity } = certificate;
    if (below > pathLength) {
      return refusal('pathlen-violated', `${name} allows ${pathLength} authorities below it; there are ${below}`);
    }
    if (!isSelfIssued(certificate)) below += 1;
  }
  return undefined;
}

function constraintRefusal(path: readonly Placed[]): Refusal | undefined {
  for (const [at, { certificate: issuer }] of path.entries()) {
    const { constraints } = issuer;
    if (at === 0 || constraints === undefined) continue;
    for (const [depth, { certificate, name }] of path.slice(0, at).entries()) {
      const why = depth > 0 && isSelfIssued(certificate) ? undefined : constraintViolation(constraints, certificate);
      if (why !== undefined) return refusal('name-constraints', `${name} is not allowed: ${why}`);
    }
  }
  return undefined;
}

function isSelfIssued({ issuer, subject }: Certificate): boolean {
  return issuer === subject;
}

/** Of several anchors of one name and key the one that is valid longest. */
function datedPath({ sent, anchors }: Built, now: number): Path | Refusal {
  const late = firstOf(sent, (placed) => dateRefusal(placed, now));
  if (late !== undefined) return late;
  const valid = anchors.filter((placed) => dateRefusal(placed, now) === undefined);
  const [anchor, ...others] = valid.length > 0 ? valid : anchors;
  const [leaf] = sent;
  if (anchor === undefined || leaf === undefined) return refusal('untrusted-chain', 'the path has no anchor');
  const best = others.reduce((a, b) => (b.certificate.notAfter > a.certificate.notAfter ? b : a), anchor);
  const refused = dateRefusal(best, now);
  if (refused !== undefined) return refused;
  const certificates = [...sent, best].map(({ certificate }) => certificate);
  return {
    leaf: leaf.certificate,
    certificates,
    expires: Math.min(...certificates.map(({ notAfter }) => notAfter)),
  };
}
