/** The wall clock jumps a day in either direction, twice: the lease stays where it is, and work goes on at once. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import { install } from '../../runtime/api/names.ts';
import { type Clock, systemClock } from '../../runtime/engine/clock.ts';
import { kubeconfigConnection } from '../../runtime/engine/kubeconfig.ts';
import { startOperator } from '../../runtime/operator/operator.ts';
import { parseSettings } from '../../runtime/operator/settings.ts';
import { eventually, memoryLog, portOf } from '../support/engine-bed.ts';
import { untilSays } from '../support/enrolments.ts';
import { findFreePort } from '../lab/ports.ts';
import { startOperatorBed } from '../support/operator-bed.ts';
import { applyAll, kindOf, writeTokenKubeconfig } from '../support/operator-platform.ts';
import { createNamespace, runtimeFor, workload } from '../support/workload-objects.ts';

const dayMs = 86_400_000;

test('LE-02 the leader’s wall clock jumps: nobody takes the lease, nothing waits', { timeout: 600_000 }, async (t) => {
  const bed = await startOperatorBed('clock');
  t.after(() => bed.stop());
  const { client, dir, plane, token } = bed;
  let offsetMs = 0;
  const clock: Clock = { ...systemClock, now: () => new Date(Date.now() + offsetMs) };
  const kubeconfig = writeTokenKubeconfig({ dir, certificatesDir: plane.certificatesDir, port: portOf(plane), token });
  const ports = { webhook: await findFreePort(), health: await findFreePort() };
  const argv = ['--pod-name=jumps', `--webhook-port=${ports.webhook}`, `--health-port=${ports.health}`];
  const settings = parseSettings([...argv, `--metrics-port=${ports.health}`, '--drain-seconds=0'], {});
  const lost: string[] = [];
  const connection = await kubeconfigConnection({ path: kubeconfig }, clock);
  const operator = await startOperator({
    settings,
    connection,
    log: memoryLog(),
    clock,
    onLost: (why) => lost.push(why),
  });
  t.after(() => operator.stop());
  const isLeading = () => operator.manager.health().controllers[0]?.state === 'running';
  await eventually(isLeading);
  // The webhooks are served by a process whose clock is right; it stands for the lease as well.
  const other = await bed.startReady('other');

  const namespace = await createNamespace(client, 'clock');
  const lease = () => client.get(kinds.lease, { namespace: install.namespace, name: install.lease });
  for (const [at, jump] of [dayMs, -dayMs, -dayMs, dayMs].entries()) {
    const before = (await lease()).spec?.renewTime;
    offsetMs += jump;
    const object = workload('Deployment', namespace, `w${at}`);
    await client.create(kindOf(object), object);
    await applyAll(client, [runtimeFor(object)]);
    await untilSays(client, runtimeFor(object), 'Active/Configured', 5_000);
    await eventually(async () => {
      const { spec } = await lease();
      assert.notEqual(spec?.renewTime, before);
      assert.match(spec?.holderIdentity ?? '', /^jumps_/);
    });
  }
  assert.deepEqual(lost, []);
  assert.equal(await other.metric('leader_election_master_status{name="rossoctl-operator"}'), 0);
  assert.equal((await lease()).spec?.leaseTransitions, 0);
});
