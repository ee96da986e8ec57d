import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type JsonValue, toJson } from '@bufbuild/protobuf';
import type { Decision } from '../../../../runtime/sidecar/decision.ts';
import { reply } from '../../../../runtime/sidecar/ext-proc/reply.ts';
import { messageOf } from '../../../../runtime/sidecar/wire/registry.ts';

const type = messageOf('envoy.service.ext_proc.v3.ProcessingResponse');
const base64 = (text: string) => Buffer.from(text, 'latin1').toString('base64');

const cases: readonly {
  readonly what: string;
  readonly decision: Decision;
  readonly headers?: readonly string[];
  readonly expected: JsonValue;
}[] = [
  {
    what: 'pass as it is',
    decision: { kind: 'pass', reason: 'bypass' },
    expected: { requestHeaders: { response: { headerMutation: {} } } },
  },
  {
    what: 'headers set replace all of that name; reserved ones of the client go',
    decision: {
      kind: 'pass',
      reason: 'ok',
      set: { authorization: 'Bearer \u00fc' },
      remove: ['x-a', 'x-rossoctl-user'],
    },
    headers: ['authorization', 'x-rossoctl-user', 'x-envoy-retry-on', 'x-envoyer', 'x-b'],
    expected: {
      requestHeaders: {
        response: {
          headerMutation: {
            setHeaders: [
              {
                header: { key: 'authorization', rawValue: base64('Bearer \u00fc') },
                appendAction: 'OVERWRITE_IF_EXISTS_OR_ADD',
              },
            ],
            removeHeaders: ['x-rossoctl-user', 'x-envoy-retry-on', 'x-a', 'authorization'],
          },
        },
      },
    },
  },
  {
    what: 'somewhere else',
    decision: { kind: 'pass', reason: 'exchanged', destination: { address: 'fd00::2', port: 8443 } },
    expected: {
      requestHeaders: { response: { headerMutation: {} } },
      dynamicMetadata: { rossoctl: { destination: '[fd00::2]:8443' } },
    },
  },
  {
    what: 'by mutual TLS, and somewhere else: the route is chosen again',
    decision: { kind: 'pass', reason: 'x', isMtls: true, destination: { address: '10.0.0.2', port: 80 } },
    expected: {
      requestHeaders: { response: { headerMutation: {}, clearRouteCache: true } },
      dynamicMetadata: { rossoctl: { destination: '10.0.0.2:80', mtls: true } },
    },
  },
  {
    what: 'a refusal',
    decision: {
      kind: 'refuse',
      reason: 'bad token!',
      status: 401,
      error: 'invalid_token',
      description: 'The token has ended.',
      headers: { 'www-authenticate': 'Bearer', 'content-type': 'text/html' },
    },
    headers: ['x-envoy-retry-on'],
    expected: {
      immediateResponse: {
        status: { code: 'Unauthorized' },
        headers: {
          setHeaders: [
            {
              header: { key: 'www-authenticate', rawValue: base64('Bearer') },
              appendAction: 'OVERWRITE_IF_EXISTS_OR_ADD',
            },
            {
              header: { key: 'content-type', rawValue: base64('application/json') },
              appendAction: 'OVERWRITE_IF_EXISTS_OR_ADD',
            },
          ],
        },
        body: base64('{"error":"invalid_token","error_description":"The token has ended."}\n'),
        details: 'rossoctl_bad_token_',
      },
    },
  },
];

for (const { what, decision, headers = [], expected } of cases) {
  test(`reply: ${what}`, () => {
    const names = new Map(headers.map((name) => [name, ['value']]));
    assert.deepEqual(toJson(type, reply(decision, names)), expected);
  });
}
