import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeAuthority } from '../../../runtime/engine/certificate-authority.ts';
import { authoritiesProblem } from '../../../runtime/config/authorities.ts';
import { isProblem, parseConfig } from '../../../runtime/config/sources.ts';
import { namespaceSource } from './layer-values.ts';

const validity = { notBefore: new Date(0), notAfter: new Date('2040-01-01') };

test('certificates, with comments between them or none at all, are good', async () => {
  const { certificate } = await makeAuthority('ours', validity);
  assert.equal(authoritiesProblem(''), undefined);
  assert.equal(authoritiesProblem(certificate), undefined);
  assert.equal(authoritiesProblem(`# ours\n${certificate}\nsubject=other\n${certificate}`), undefined);
});

test('anything else is told of, and a key is never taken', async () => {
  const { certificate, key } = await makeAuthority('ours', validity);
  const rows: readonly (readonly [string, RegExp])[] = [
    ['/etc/ssl/ca.pem', /holds no certificate: write PEM/],
    [`${certificate}${key}`, /holds a PRIVATE KEY; only certificates belong there/],
    [certificate.slice(0, -20), /holds no certificate/],
    [`${certificate}${certificate.slice(0, -20)}`, /is cut off/],
    [certificate.replace(/\n.{20}/, '\n'), /certificate 1 cannot be read/],
    [certificate.repeat(65), /holds 65 certificates; 64 may be/],
  ];
  for (const [pem, said] of rows) assert.match(authoritiesProblem(pem) ?? '', said);
});

test('a configuration with an authority that cannot be read is refused with its path', () => {
  const parsed = parseConfig('identity: { ca: nothing }', namespaceSource);
  assert.ok(isProblem(parsed));
  assert.match(JSON.stringify(parsed), /identity\.ca.*holds no certificate/);
});

test('a configuration may hold one, in its lines', async () => {
  const { certificate: ca } = await makeAuthority('ours', validity);
  const parsed = parseConfig(JSON.stringify({ identity: { ca } }), namespaceSource);
  assert.equal(isProblem(parsed), false, JSON.stringify(parsed));
});
