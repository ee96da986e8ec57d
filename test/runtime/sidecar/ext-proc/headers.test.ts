import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  endpointOf,
  endpointText,
  headersOf,
  type ProcessingRequest,
  requestHead,
} from '../../../../runtime/sidecar/ext-proc/headers.ts';
import { messageOf } from '../../../../runtime/sidecar/wire/registry.ts';

const type = messageOf('envoy.service.ext_proc.v3.ProcessingRequest');

/** As it comes off the wire. */
function received(init: object): ProcessingRequest {
  return fromBinary(type, toBinary(type, create(type, { ...init }))) as unknown as ProcessingRequest;
}

const header = (key: string, value: string) => ({ key, rawValue: Buffer.from(value, 'latin1') });

const asked = received({
  request: {
    case: 'requestHeaders',
    value: {
      headers: {
        headers: [
          header(':method', 'POST'),
          header(':path', '/a?b=c'),
          header(':authority', 'agent:8080'),
          header('X-Twice', 'one'),
          header('x-twice', 'tw\u00f6'),
          { key: 'x-old', value: 'by value' },
          header('x-empty', ''),
        ],
      },
    },
  },
  attributes: {
    'envoy.filters.http.ext_proc': {
      'source.address': '10.0.0.7:40000',
      'destination.address': '[fd00::1]:8080',
      'connection.mtls': true,
      'connection.uri_san_peer_certificate': 'spiffe://example.org/a',
    },
  },
});

test('a request as the rules want it', () => {
  const headers = headersOf(asked);
  assert.ok(headers);
  const { values, ...head } = requestHead('inbound', headers, asked);
  assert.deepEqual(head, {
    direction: 'inbound',
    method: 'POST',
    path: '/a?b=c',
    authority: 'agent:8080',
    source: { address: '10.0.0.7', port: 40_000 },
    destination: { address: 'fd00::1', port: 8080 },
    isTls: true,
    peer: 'spiffe://example.org/a',
  });
  assert.deepEqual(values('x-twice'), ['one', 'tw\u00f6']);
  assert.deepEqual(values('x-old'), ['by value']);
  assert.deepEqual(values('x-empty'), ['']);
  assert.deepEqual(values('x-none'), []);
});

test('what is not said is undefined', () => {
  const message = received({ request: { case: 'requestHeaders', value: {} } });
  const headers = headersOf(message);
  assert.ok(headers);
  const { method, source, destination, isTls, peer } = requestHead('outbound', headers, message);
  assert.deepEqual(
    { method, source, destination, isTls, peer },
    {
      method: '',
      source: undefined,
      destination: undefined,
      isTls: false,
      peer: undefined,
    },
  );
});

test('messages about anything else have no headers', () => {
  for (const name of ['requestBody', 'responseHeaders', 'responseBody', 'requestTrailers', 'responseTrailers']) {
    assert.equal(headersOf(received({ request: { case: name, value: {} } })), undefined, name);
  }
  assert.equal(headersOf(received({})), undefined);
});

test('endpoints', () => {
  assert.deepEqual(endpointOf('10.0.0.1:80'), { address: '10.0.0.1', port: 80 });
  assert.deepEqual(endpointOf('[::1]:443'), { address: '::1', port: 443 });
  for (const bad of ['', '10.0.0.1', '::1:443', '/run/a.sock', ':80', 7, undefined])
    assert.equal(endpointOf(bad), undefined);
  assert.equal(endpointText({ address: '10.0.0.1', port: 80 }), '10.0.0.1:80');
  assert.equal(endpointText({ address: 'fd00::1', port: 80 }), '[fd00::1]:80');
});
