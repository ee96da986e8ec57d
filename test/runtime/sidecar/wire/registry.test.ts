import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromBinary, toJson } from '@bufbuild/protobuf';
import { madeFrom } from '../../../../imports/protocols.ts';
import {
  bytesOf,
  messageFrom,
  messageOf,
  packed,
  registry,
  serviceOf,
} from '../../../../runtime/sidecar/wire/registry.ts';
import { digestOfSources } from '../../../../scripts/protocols/sources.ts';

test('the descriptors are made from the sources beside their generator', () => {
  assert.equal(madeFrom, digestOfSources(), 'imports/protocols.ts is stale: run npm run gen:protocols and commit it');
});

test('a listener goes from JSON to bytes and back, packed messages and durations included', () => {
  const listener = {
    name: 'outbound',
    address: { socketAddress: { address: '0.0.0.0', portValue: 15123 } },
    listenerFilters: [
      {
        name: 'original_dst',
        typedConfig: { '@type': 'type.googleapis.com/envoy.extensions.filters.listener.original_dst.v3.OriginalDst' },
      },
    ],
    listenerFiltersTimeout: '1s',
  };
  const name = 'envoy.config.listener.v3.Listener';
  const again = toJson(messageOf(name), fromBinary(messageOf(name), bytesOf(name, listener)), { registry });
  assert.deepEqual(again, listener);
  assert.equal(packed(name, listener).typeUrl, `type.googleapis.com/${name}`);
});

test('a field that does not exist, and a name that is not there, are refused by name', () => {
  assert.throws(() => messageFrom('envoy.config.listener.v3.Listener', { addres: {} }), /unknown|"addres"/);
  assert.throws(() => messageOf('envoy.Nothing'), /no message envoy\.Nothing/);
  assert.throws(() => serviceOf('Nothing'), /no service Nothing/);
});

test('the services are there, with the direction of their streams', () => {
  const kinds = (service: string) =>
    Object.fromEntries(serviceOf(service).methods.map(({ name, methodKind }) => [name, methodKind]));
  assert.equal(kinds('envoy.service.ext_proc.v3.ExternalProcessor')['Process'], 'bidi_streaming');
  assert.equal(
    kinds('envoy.service.discovery.v3.AggregatedDiscoveryService')['StreamAggregatedResources'],
    'bidi_streaming',
  );
  const workload = kinds('SpiffeWorkloadAPI');
  assert.equal(workload['FetchX509SVID'], 'server_streaming');
  assert.equal(workload['FetchX509Bundles'], 'server_streaming');
  assert.equal(workload['FetchJWTSVID'], 'unary');
});
