/** The names of injected volumes as told beforehand are those that an injection adds, whatever is switched on. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { credentialsSecretName } from '../../../runtime/api/names.ts';
import { volumeNamesOf } from '../../../runtime/config/volume-names.ts';
import { judged, r0 } from '../authbridge/fixtures.ts';

/** Every combination of six switches. */
const combinations = Array.from({ length: 64 }, (_, bits) => (bit: number) => (bits >> bit) % 2 === 1);

test('what is told is what is added, and the cache keeps volumes of such names', () => {
  let added = 0;
  for (const isOn of combinations) {
    const { verdict, components, effective } = judged({
      gates: { envoyProxy: isOn(0), spiffeHelper: isOn(1), clientRegistration: isOn(2) },
      config: {
        clientRegistration: { mode: isOn(3) ? 'sidecar' : 'operator' },
        identity: { adminCredentialsSecret: isOn(4) ? 'admin' : '' },
      },
      runtime: r0({ authBridgeMode: isOn(5) ? 'envoy-sidecar' : 'proxy-sidecar' }),
    });
    if (verdict.kind !== 'mutate' || components === undefined || effective === undefined) continue;
    const told = volumeNamesOf(components, effective.config, credentialsSecretName('team1', 'weather-agent'));
    const names = (verdict.object.spec.volumes ?? []).map(({ name }) => name);
    assert.deepEqual(new Set(names), new Set(told));
    assert.ok(told.every((name) => name.startsWith('rossoctl-')));
    added += 1;
  }
  assert.ok(added > 30, String(added));
});
