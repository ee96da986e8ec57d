/** The live reader, with values: what a field selector saves where the API server knows it, and what is read where it does not. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, liveReader } from '../../../runtime/engine/client.ts';
import type { RequestSpec } from '../../../runtime/engine/transport.ts';
import type { Kind } from '../../../runtime/engine/types.ts';
import { refused, scriptedTransport } from '../../support/scripted-transport.ts';

const widgets: Kind = { apiVersion: 'example.test/v1', kind: 'Widget', plural: 'widgets', namespaced: true };
const widget = (name: string) => ({
  apiVersion: 'example.test/v1',
  kind: 'Widget',
  metadata: { namespace: 'n', name },
});
const where = { namespace: 'n', fields: 'spec.colour=red' };

function reading(answer: (spec: RequestSpec) => unknown) {
  const transport = scriptedTransport(answer);
  const asked = () => transport.sent.map(({ query }) => query?.['fieldSelector']);
  return { live: liveReader(createClient(transport)), asked };
}

test('what the API server selects is asked for once', async () => {
  const { live, asked } = reading(() => ({ metadata: {}, items: [widget('a')] }));
  assert.equal((await live.list(widgets, where)).length, 1);
  assert.deepEqual(asked(), ['spec.colour=red']);
});

test('an API server that cannot select by these fields gives everything', async () => {
  const { live, asked } = reading(({ query }) => {
    if (query?.['fieldSelector'] !== undefined) throw refused(400);
    return { metadata: {}, items: [widget('a'), widget('b')] };
  });
  assert.equal((await live.list(widgets, where)).length, 2);
  assert.deepEqual(asked(), ['spec.colour=red', undefined]);
});

test('every other refusal is a failure, and so is a bad request without fields', async () => {
  for (const [status, fields] of [
    [403, 'spec.colour=red'],
    [500, 'spec.colour=red'],
    [400, undefined],
  ] as const) {
    const { live, asked } = reading(() => {
      throw refused(status);
    });
    await assert.rejects(live.list(widgets, { namespace: 'n', ...(fields === undefined ? {} : { fields }) }));
    assert.equal(asked().length, 1);
  }
});

test('WT-02 a continuation that expires begins anew: nothing twice, and nothing that has gone meanwhile', async () => {
  const { live } = reading(({ query }) => {
    if (query?.['continue'] !== undefined) throw refused(410);
    if (query?.['limit'] === undefined) return { metadata: {}, items: [widget('b'), widget('c')] };
    return { metadata: { continue: 'more' }, items: [widget('a'), widget('b')] };
  });
  const names = (await live.list(widgets, { namespace: 'n' })).map(({ metadata }) => metadata.name);
  assert.deepEqual(names, ['b', 'c']);
});
