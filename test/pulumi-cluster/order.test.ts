/** Stacks that are removed in the other order, and agents that are renamed. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import { install, webhookConfigurations } from '../../runtime/api/names.ts';
import { textOf, tracesIn } from '../../runtime/operator/traces.ts';
import { startPulumiBed } from './bed.ts';
import type { Stack } from './project.ts';

let bed: Awaited<ReturnType<typeof startPulumiBed>>;
let platform: Stack;
let team: Stack;

const teamOf = (...names: readonly string[]) => ({
  agents: {
    platform: 'order',
    namespace: 'team1',
    agents: Object.fromEntries(names.map((name) => [name, { image: 'example.test/agent:1', user: 1000, replicas: 0 }])),
  },
});

before(async () => {
  bed = await startPulumiBed('order');
  const image = 'example.test/rossoctl:1';
  platform = await bed.stack('order', { platform: { image, mode: 'namespaced', namespaces: [{ name: 'team1' }] } });
  team = await bed.stack('team', teamOf('weather', 'billing'));
});
after(() => bed.stop());

test('a team before its platform is told what to do, and one where the platform does not watch', {
  timeout: 600_000,
}, async () => {
  await assert.rejects(team.preview(), /order/);
  await platform.run('up');
  const elsewhere = teamOf('weather');
  team.configure({ agents: { ...elsewhere.agents, namespace: 'team2' } });
  await assert.rejects(
    team.preview(),
    /error: .*config\.rossoctl:agents\.namespace: team2 is not watched by the platform order, which watches team1: add it to namespaces there/,
  );
});

test('a renamed agent is a new one and the old one gone, and nothing else', { timeout: 600_000 }, async () => {
  // There is no operator here that could answer them.
  const { injector, validator } = webhookConfigurations;
  await bed.client.remove({ kind: kinds.mutatingWebhookConfiguration, name: injector });
  await bed.client.remove({ kind: kinds.validatingWebhookConfiguration, name: validator });
  team.configure(teamOf('weather', 'billing'));
  await team.run('up');
  team.configure(teamOf('forecast', 'billing'));
  const planned = (await team.preview()).map(({ op, urn }) => `${op} ${urn.slice(urn.lastIndexOf(':') + 1)}`);
  const four = (op: string, name: string) => Array.from({ length: 4 }, () => `${op} team1/${name}`);
  assert.deepEqual(planned.sort(), [...four('create', 'forecast'), ...four('delete', 'weather')].sort());
  await team.run('up');
  const { items } = await bed.client.list(kinds.agentRuntime, { namespace: 'team1' });
  assert.deepEqual(items.map(({ metadata }) => metadata.name ?? '').sort(), ['billing', 'forecast']);
});

test('a platform that goes before its teams takes their resources along, and their stacks end as well', {
  timeout: 600_000,
}, async () => {
  await platform.run('destroy');
  await team.run('destroy');
  const { gates, resources } = await tracesIn(bed.client, install.namespace);
  assert.deepEqual([...gates, ...resources].map(textOf), []);
});
