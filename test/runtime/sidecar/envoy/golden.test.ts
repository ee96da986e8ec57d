/** All that Envoy is given for each shape of a pod, one golden file each. `UPDATE_GOLDEN=1` accepts what is. */

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { bootstrap } from '../../../../runtime/sidecar/envoy/bootstrap.ts';
import { socketsIn } from '../../../../runtime/sidecar/envoy/names.ts';
import { clustersOf, listenersOf } from '../../../../runtime/sidecar/envoy/snapshot.ts';
import { identity, intents } from './intents.ts';

const folder = path.resolve(import.meta.dirname, '../../../golden/sidecar-envoy');

for (const [name, intent] of Object.entries(intents)) {
  test(`the configuration of a pod: ${name}`, () => {
    const all = {
      bootstrap: bootstrap(intent, socketsIn('/run/rossoctl')),
      clusters: clustersOf(intent, identity),
      listeners: listenersOf(intent),
    };
    const text = `${JSON.stringify(all, undefined, 2)}\n`;
    const file = path.join(folder, `${name}.json`);
    if (process.env['UPDATE_GOLDEN'] === '1') {
      mkdirSync(folder, { recursive: true });
      writeFileSync(file, text);
    }
    assert.equal(text, readFileSync(file, 'utf8'), `${name} differs; accept with: npm run test:update`);
  });
}
