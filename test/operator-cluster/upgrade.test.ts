/** UP-01, UP-03 An upgrade, done in order and out of order: what is said, what goes on, and that no admission fails and no workload restarts. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentRuntime } from '../../runtime/api/agent-runtime.ts';
import { crdNames } from '../../runtime/api/crds.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import { release } from '../../runtime/api/release.ts';
import type { KubeObject } from '../../runtime/engine/types.ts';
import { isWrite } from '../support/audit-log.ts';
import { eventually } from '../support/engine-bed.ts';
import { untilSays } from '../support/enrolments.ts';
import { type OperatorBed, startOperatorBed, untilIdle, untilLeading, untilReady } from '../support/operator-bed.ts';
import { applyAll, kindOf } from '../support/operator-platform.ts';
import type { OperatorProcess } from '../support/operator-process.ts';
import { createNamespace, runtimeFor, workload, type Written } from '../support/workload-objects.ts';

const [runtimes = '', cards = ''] = crdNames;
const fits = { message: 'the installation fits again', misfit: 'the installation does not fit' } as const;

interface Properties {
  readonly properties: Record<string, Properties & { enum?: string[] }>;
}

/** The definition as an older release would have had it: without two fields and without one value. */
function older(definition: KubeObject): Written {
  const copy = structuredClone(definition) as unknown as {
    spec: { versions: [{ schema: { openAPIV3Schema: Properties } }] };
  };
  const { spec, status } = copy.spec.versions[0].schema.openAPIV3Schema.properties;
  delete spec?.properties['trace'];
  delete status?.properties['configuredPods'];
  if (spec?.properties['mtlsMode'] !== undefined) spec.properties['mtlsMode'].enum = ['disabled', 'permissive'];
  return copy as unknown as Written;
}

describe('an upgrade', { timeout: 600_000 }, () => {
  let bed: OperatorBed;
  let operator: OperatorProcess;
  const namespace = 'upgraded';
  const weather = workload('Deployment', namespace, 'weather');
  const runtime = runtimeFor(weather);
  before(async () => {
    bed = await startOperatorBed('upgrade', { without: ['CustomResourceDefinition'] });
    await createNamespace(bed.client, namespace);
  });
  after(() => bed.stop());

  const fault = (kind: string, name: string) =>
    operator.metric(`rossoctl_installation_fault{kind="${kind}",name="${name}"}`);
  const degraded = async (): Promise<string> =>
    (await operator.readiness())?.degraded.find(({ name }) => name === 'installation')?.reason ?? '';

  test('UP-03 an operator that is there before its definitions works as soon as they are, without a restart', async () => {
    const first = await bed.start('before-definitions');
    const refused = () => first.metric('watch_restarts_total{watch="agentruntimes",cause="404"}');
    // By now it asks every ten seconds or so.
    await eventually(async () => assert.ok(((await refused()) ?? 0) >= 5));
    const said = (await first.readiness())?.degraded.find(({ name }) => name === 'installation')?.reason;
    assert.match(said ?? '', /CustomResourceDefinition agentruntimes\.agent\.rossoctl\.dev does not exist: apply/);
    const definitions = bed.objects.filter(({ kind }) => kind === 'CustomResourceDefinition');
    await applyAll(
      bed.client,
      definitions.map((one) => (one.metadata.name === runtimes ? older(one) : (one as Written))),
    );
    await untilLeading(first, 5_000);
    await untilReady(first, 5_000);
    await first.stop();
  });

  test('UP-03 definitions of an older release: said in log, metric and readiness output, and enrolment goes on', async () => {
    operator = await bed.startReady('early');
    await untilLeading(operator);
    await eventually(async () => assert.equal(await fault('CustomResourceDefinition', runtimes), 1));
    assert.equal(await fault('CustomResourceDefinition', cards), undefined, 'as it is in the cluster, it is ours');
    const said = await degraded();
    assert.match(said, /CustomResourceDefinition agentruntimes\.agent\.rossoctl\.dev is older than this operator/);
    assert.match(
      said,
      /v1alpha1 spec\.mtlsMode: no value "strict"; v1alpha1 spec\.trace: no such field; v1alpha1 status\.configuredPods: no such field/,
    );
    assert.match(said, new RegExp(`apply the CustomResourceDefinitions of release ${release}`));
    const lines = operator.lines.filter(({ msg }) => msg === fits.misfit);
    assert.deepEqual(
      lines.map(({ level }) => level),
      ['error'],
      'once',
    );

    await bed.client.create(kindOf(weather), weather);
    await bed.client.create(kinds.agentRuntime, withTrace(runtime));
    await untilSays(bed.client, runtime, 'Active/Configured');
    const { spec } = await bed.client.get(kinds.agentRuntime, { namespace, name: 'weather' });
    assert.equal(spec.trace, undefined, 'dropped by the API server');
    // Each pass of the enrolment writes the status once more; what counts is that this ends with the enrolment.
    await untilIdle(operator);
    await sleep(1_000);
    const from = bed.audit.position;
    await sleep(2_000);
    const writes = bed.audit.since(from).filter((one) => isWrite(one) && one.objectRef?.resource === 'agentruntimes');
    assert.ok(writes.length <= 1, `${writes.length} writes of a status that cannot be kept whole`);
  });

  test('UP-03 the definitions are brought up to date: noticed without a restart, resources kept, new fields kept', async () => {
    const { client } = bed;
    const before = await client.get(kinds.agentRuntime, { namespace, name: 'weather' });
    await bed.installRest();
    await eventually(async () => assert.equal(await fault('CustomResourceDefinition', runtimes), undefined));
    assert.equal(await degraded(), '');
    assert.ok(operator.lines.some(({ msg, object }) => msg === fits.message && String(object).endsWith(runtimes)));
    const kept = await client.get(kinds.agentRuntime, { namespace, name: 'weather' });
    assert.equal(kept.metadata.uid, before.metadata.uid);
    await applyAll(client, [withTrace(runtime) as unknown as Written]);
    const { spec } = await client.get(kinds.agentRuntime, { namespace, name: 'weather' });
    assert.equal(spec.trace?.endpoint, 'collector:4317');
  });

  test('UP-01 a webhook that an older install left under another name: said while it is there, and it alone', async () => {
    const { client } = bed;
    const kind = 'MutatingWebhookConfiguration';
    const left = { kind: kinds.mutatingWebhookConfiguration, name: 'former-injector' };
    const ours = bed.objects.find((object) => object.kind === kind);
    assert.ok(ours !== undefined);
    const { metadata: _, ...content } = ours;
    await applyAll(client, [{ ...content, metadata: { name: left.name } } as unknown as Written]);
    await eventually(async () => assert.equal(await fault(kind, left.name), 1));
    assert.match(
      await degraded(),
      /^MutatingWebhookConfiguration former-injector is left of another install: its webhook inject\.rossoctl\.io calls Service rossoctl-system\/rossoctl-webhook and refuses/,
    );
    const { ok } = (await operator.readiness()) ?? {};
    assert.equal(ok, true);
    assert.equal(await fault(kind, ours.metadata.name ?? ''), undefined);

    const late = await bed.startReady('late');
    const lines = () => late.lines.filter(({ msg, fault }) => msg === fits.misfit && String(fault).includes(left.name));
    await eventually(() => lines().length === 1);
    await client.remove(left);
    await eventually(async () => assert.equal(await fault(kind, left.name), undefined));
    assert.equal(await degraded(), '');
    await late.stop();
  });

  test('UP-03 with the roles of an older release it works, and says that it cannot tell', async () => {
    const { client } = bed;
    const role = bed.objects.find(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name?.includes('cluster'));
    assert.ok(role !== undefined);
    const rules = (role['rules'] as readonly { readonly apiGroups: readonly string[] }[]).filter(
      ({ apiGroups }) => !apiGroups.includes('apiextensions.k8s.io'),
    );
    await client.replace(kindOf(role), { ...role, rules } as KubeObject);
    const held = await bed.startReady('held-back', { env: { ROSSOCTL_MANIFESTS_RELEASE: '0.0.1' } });
    await eventually(async () => {
      const { ok, degraded: said = [] } = (await held.readiness()) ?? {};
      assert.equal(ok, true);
      assert.match(
        said.find(({ name }) => name === 'installation')?.reason ?? '',
        /cannot be told.*definition-of-agentruntimes.*403.*apply the roles of this release/,
      );
    });
    const skew = held.lines.find(({ msg }) => msg === 'manifests and operator are of different releases');
    assert.match(String(skew?.['skew']), /its manifests are of the older 0\.0\.1: apply the manifests of/);
    const info = `rossoctl_build_info{version="${release}",manifests="0.0.1",manifests_age="older"}`;
    assert.equal(await held.metric(info), 1);
    await applyAll(client, [role as Written]);
    await eventually(async () => assert.deepEqual((await held.readiness())?.degraded, []));
    await held.stop();
  });
});

function withTrace(runtime: KubeObject): AgentRuntime {
  const { spec, ...rest } = runtime as AgentRuntime;
  const trace = { endpoint: 'collector:4317', protocol: 'grpc', sampling: { type: 'always', rate: 1 } } as const;
  return { ...rest, spec: { ...spec, trace } };
}
