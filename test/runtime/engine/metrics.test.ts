import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from '../../../runtime/engine/metrics.ts';

const bare = () => createMetrics({ process: false });

test('counter, gauge and histogram appear in the text', async () => {
  const metrics = bare();
  metrics.counter({ name: 'a_total', help: 'A.', labels: ['x'] }).inc({ x: '1' }, 2);
  metrics.gauge({ name: 'b', help: 'B.' }).set({}, 5);
  metrics.histogram({ name: 'c_seconds', help: 'C.', labels: ['x'] }).observe({ x: '1' }, 0.002);
  const text = await metrics.text();
  assert.match(text, /^a_total\{x="1"\} 2$/m);
  assert.match(text, /^b 5$/m);
  assert.match(text, /^c_seconds_bucket\{le="0.0025",x="1"\} 1$/m);
  assert.match(metrics.contentType, /^text\/plain/);
});

test('the same name is the same metric; another shape is refused', () => {
  const metrics = bare();
  const first = metrics.counter({ name: 'a_total', help: 'A.', labels: ['x', 'y'] });
  assert.equal(metrics.counter({ name: 'a_total', help: 'A.', labels: ['y', 'x'] }), first);
  assert.throws(() => metrics.counter({ name: 'a_total', help: 'A.', labels: ['x'] }), /a_total/);
  assert.throws(() => metrics.gauge({ name: 'a_total', help: 'A.', labels: ['x', 'y'] }), /a_total/);
});

test('a series disappears with its object, and removing an unknown one is no error', async () => {
  const metrics = bare();
  const gauge = metrics.gauge({ name: 'pods', help: 'Pods.', labels: ['namespace', 'name'] });
  gauge.set({ namespace: 'a', name: 'one' }, 1);
  gauge.set({ namespace: 'a', name: 'two' }, 2);
  gauge.remove({ namespace: 'a', name: 'one' });
  gauge.remove({ namespace: 'a', name: 'never' });
  const text = await metrics.text();
  assert.doesNotMatch(text, /one/);
  assert.match(text, /pods\{namespace="a",name="two"\} 2/);
});

test('a gauge may look at scrape time', async () => {
  const metrics = bare();
  let depth = 3;
  metrics.gauge({ name: 'depth', help: 'Depth.', collect: (gauge) => gauge.set({}, depth) });
  depth = 7;
  assert.match(await metrics.text(), /^depth 7$/m);
});

test('two registries share nothing; the default one shows the process', async () => {
  const one = createMetrics();
  const two = createMetrics();
  one.counter({ name: 'only_one_total', help: 'One.' }).inc({});
  assert.match(await one.text(), /process_cpu_seconds_total/);
  assert.doesNotMatch(await two.text(), /only_one/);
});
