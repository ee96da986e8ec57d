/** Patterns of the AgentRuntime schema: what they take and what they refuse. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { Check } from 'typebox/value';
import { Endpoint, HttpUrl, TrustDomain } from '../../../runtime/api/agent-runtime.ts';
import { TargetRef } from '../../../runtime/api/target-ref.ts';

const version = TargetRef.properties.apiVersion;

const table = [
  ['URL', HttpUrl, 'http://keycloak.rossoctl-system.svc:8080', true],
  ['URL with a path', HttpUrl, 'https://idp.example/auth', true],
  ['URL of an IPv6 address', HttpUrl, 'https://[fd00::1]:8443/', true],
  ['URL with a blank', HttpUrl, 'http://a b', false],
  ['URL with a line break', HttpUrl, 'http://a\nb', false],
  ['URL with credentials', HttpUrl, 'https://user:pw@idp.example', false],
  ['URL with a query', HttpUrl, 'http://x?y', false],
  ['URL with a fragment', HttpUrl, 'http://x#y', false],
  ['URL without a host', HttpUrl, 'http:///x', false],
  ['URL of another scheme', HttpUrl, 'ftp://x', false],
  ['endpoint', Endpoint, 'otel-collector.observability:4317', true],
  ['endpoint with a scheme', Endpoint, 'https://otel.example:4318/v1', true],
  ['endpoint of an IPv6 address', Endpoint, '[::1]:4317', true],
  ['endpoint at port 0', Endpoint, 'a:0', false],
  ['endpoint at port 65535', Endpoint, 'a:65535', true],
  ['endpoint at port 65536', Endpoint, 'a:65536', false],
  ['endpoint at port 99999', Endpoint, 'a:99999', false],
  ['endpoint with credentials', Endpoint, 'u:p@a:1', false],
  ['API version of a group', version, 'apps/v1', true],
  ['API version of the core group', version, 'v1', true],
  ['API version of a beta', version, 'apps/v1beta2', true],
  ['group without a version', version, 'apps', false],
  ['API version with three parts', version, 'apps/v1/x', false],
  ['trust domain', TrustDomain, 'prod.example', true],
  ['trust domain in capitals', TrustDomain, 'Prod.example', false],
  ['trust domain that is a SPIFFE ID', TrustDomain, 'spiffe://prod.example', false],
] as const;

for (const [what, schema, value, isTaken] of table) {
  test(`${what} is ${isTaken ? 'taken' : 'refused'}: ${JSON.stringify(value)}`, () => {
    assert.equal(Check(schema, value), isTaken);
  });
}
