import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromBinary, toJson } from '@bufbuild/protobuf';
import { typeUrl, types } from '../../../../runtime/sidecar/envoy/names.ts';
import { secrets } from '../../../../runtime/sidecar/envoy/secrets.ts';
import { type Snapshot, snapshot, versionOf } from '../../../../runtime/sidecar/envoy/snapshot.ts';
import { messageOf, registry } from '../../../../runtime/sidecar/wire/registry.ts';
import { identity, intents, plain } from './intents.ts';

const of = (all: Snapshot, type: string) => all.get(typeUrl(type)) ?? [];
const names = (all: Snapshot, type: string) => of(all, type).map(({ name }) => name);

test('a pod has a cluster and a listener for each direction, without capture one more for tunnels, with an identity a cluster for mutual TLS', () => {
  for (const intent of Object.values(intents)) {
    const all = snapshot(intent, identity);
    const { explicit } = intent;
    const isOutbound = explicit?.isOutbound ?? true;
    const tunnel = explicit !== undefined && isOutbound ? ['tunnel'] : [];
    const outwards = isOutbound ? ['outbound'] : [];
    const mtls = isOutbound && intent.mtls !== 'disabled' ? ['outbound_mtls'] : [];
    assert.deepEqual(names(all, types.cluster), ['inbound', ...outwards, ...mtls, ...tunnel]);
    assert.deepEqual(names(snapshot(intent, undefined), types.cluster), ['inbound', ...outwards, ...tunnel]);
    assert.deepEqual(names(all, types.listener), ['inbound', ...outwards, ...tunnel]);
  }
});

test('an identity is served where mutual TLS is on, and nothing at all in its place when there is none', () => {
  const intent = { ...plain, mtls: 'permissive' } as const;
  assert.deepEqual(names(snapshot(intent, identity), types.secret), ['identity', 'trust']);
  assert.deepEqual(names(snapshot(intent, undefined), types.secret), []);
  assert.deepEqual(names(snapshot(plain, identity), types.secret), []);
});

test('each trusted domain has its own authorities, in an order that does not change', () => {
  const [, trust] = secrets(identity);
  assert.deepEqual(trust?.['validationContext'], {
    customValidatorConfig: {
      name: 'envoy.tls.cert_validator.spiffe',
      typedConfig: {
        '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig',
        trustDomains: [
          { name: 'example.org', trustBundle: { inlineString: 'HOME' } },
          { name: 'partner.test', trustBundle: { inlineString: 'PARTNER' } },
        ],
      },
    },
  });
});

test('a version names the content', () => {
  const version = (of_: Snapshot) => versionOf(of(of_, types.listener));
  assert.equal(version(snapshot(plain, undefined)), version(snapshot({ ...plain }, identity)));
  assert.notEqual(
    version(snapshot(plain, undefined)),
    version(snapshot({ ...plain, limits: { idleSeconds: 7 } }, undefined)),
  );
});

test('no listener stops what is long, and none lets a request by that was not decided', () => {
  for (const { any } of of(snapshot(intents['mutual-tls'] ?? plain, identity), types.listener)) {
    const text = JSON.stringify(
      toJson(messageOf(types.listener), fromBinary(messageOf(types.listener), any.value), { registry }),
    );
    const managers = text.split('HttpConnectionManager').length - 1;
    assert.ok(managers > 0);
    for (const wanted of ['"statusOnError":{"code":"ServiceUnavailable"}', '"messageTimeout":"10s"']) {
      assert.equal(text.split(wanted).length - 1, managers, wanted);
    }
    assert.doesNotMatch(text, /"timeout":"(?!0s)/);
    assert.doesNotMatch(text, /failureModeAllow":true|BUFFERED|allowModeOverride":true/);
  }
});
