/** The whole product before a real API server: templates whose pods the injector refuses, while their old pods run on, are never called protected. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { AgentRuntimeSpec, AgentRuntimeStatus } from '../../runtime/api/agent-runtime.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import { annotations, labels } from '../../runtime/api/names.ts';
import type { KubeObject } from '../../runtime/engine/types.ts';
import { isInjected } from '../../runtime/workload/pods.ts';
import { program } from '../runtime/cli/run-cli.ts';
import { eventually } from '../support/engine-bed.ts';
import { untilSays } from '../support/enrolments.ts';
import { type OperatorBed, startOperatorBed, untilLeading } from '../support/operator-bed.ts';
import { createNamespace, runtimeFor, workload, type WorkloadOptions } from '../support/workload-objects.ts';

const namespace = 'refused';
const forged = {
  name: 'envoy-proxy',
  image: 'evil.test/x:1',
  restartPolicy: 'Always',
  volumeMounts: [{ name: 'rossoctl-work', mountPath: '/w' }],
};

interface Refused {
  readonly name: string;
  readonly pod?: WorkloadOptions['pod'];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: Partial<AgentRuntimeSpec>;
  /** Seen in the template, so that the workload is left as it is. Without it only the webhook can tell, by the pod. */
  readonly reason?: string;
  readonly words: RegExp;
}

/** Of the cluster, which has no CSI driver, mtlsMode strict is refused; the others are permissive. */
const templates: readonly Refused[] = [
  {
    name: 'container-name',
    pod: { initContainers: [{ name: 'envoy-proxy', image: 'x', restartPolicy: 'Always' }] },
    reason: 'ContainerNameTaken',
    words: /container of its own named envoy-proxy.*rename it/,
  },
  {
    name: 'host-network',
    pod: { hostNetwork: true },
    reason: 'HostNetworkConflict',
    words: /host's network.*authBridgeMode: proxy-sidecar/,
  },
  {
    name: 'volume-name',
    pod: { volumes: [{ name: 'rossoctl-run', emptyDir: {} }] },
    reason: 'VolumeNameTaken',
    words: /volume of its own named rossoctl-run/,
  },
  {
    name: 'excluded-ports',
    annotations: { [annotations.outboundPortsExclude]: '80,foo,99999' },
    reason: 'InvalidAnnotation',
    words: /holds "foo", "99999"/,
  },
  {
    name: 'strict',
    spec: { mtlsMode: 'strict' },
    words: /mtlsMode strict needs a SPIFFE identity/,
  },
  {
    name: 'forged',
    annotations: { [annotations.injected]: 'envoy-proxy' },
    pod: { initContainers: [forged], volumes: [{ name: 'rossoctl-work', emptyDir: {} }] },
    words: /rossoctl\.io\/injected is not true/,
  },
];

/** A Deployment of one pod, with the annotations on its template. */
function deployment({ name, pod = {}, annotations: marks = {} }: Refused): KubeObject {
  const made = workload('Deployment', namespace, name, { replicas: 1, pod });
  const spec = made['spec'] as { readonly template: { readonly metadata: object } };
  const metadata = { ...spec.template.metadata, annotations: marks };
  return { ...made, spec: { ...spec, template: { ...spec.template, metadata } } } as KubeObject;
}

function hasBarePod(status: AgentRuntimeStatus | undefined, name: string): void {
  const pods = status?.conditions?.find(({ type }) => type === 'PodsInjected');
  assert.deepEqual([pods?.status, pods?.reason, status?.configuredPods], ['False', 'PodsRefused', 0], name);
  assert.match(status?.message ?? '', /from before its enrolment run on without sidecars/);
}

/** As its owner made it, with its pod. */
async function isLeftAlone({ client }: OperatorBed, name: string): Promise<void> {
  const { metadata, status } = await client.get(kinds.deployment, { namespace, name });
  const seen = [metadata.labels?.[labels.type], metadata.generation, status?.replicas];
  assert.deepEqual(seen, [undefined, 1, 1], name);
}

describe('pods that the injector refuses', { timeout: 600_000 }, () => {
  let bed: OperatorBed;
  before(async () => {
    bed = await startOperatorBed('refused-pods');
    await untilLeading(await bed.startReady('one'));
    await createNamespace(bed.client, namespace);
  });
  after(() => bed.stop());

  test('what its template tells is not enrolled; else the old pod is bare and the new ones are refused: status and command line say so', async () => {
    for (const row of templates) await bed.client.create(kinds.deployment, deployment(row) as never);
    await eventually(async () => {
      const { items } = await bed.client.list(kinds.deployment, { namespace });
      assert.deepEqual(
        items.map(({ status }) => status?.replicas),
        templates.map(() => 1),
      );
    });
    for (const row of templates) await bed.client.create(kinds.agentRuntime, runtimeFor(deployment(row), row.spec));
    for (const row of templates) {
      const { reason = 'PodsRefused' } = row;
      const { status } = await untilSays(bed.client, runtimeFor(deployment(row)), `Error/${reason}`);
      assert.match(status?.message ?? '', row.words);
      await (row.reason === undefined ? hasBarePod(status, row.name) : isLeftAlone(bed, row.name));
    }
    const { code, out, err } = await program(['status', '-n', namespace, '--kubeconfig', bed.plane.kubeconfigPath]);
    assert.equal(code, 0, err);
    for (const { name } of templates.filter(({ reason }) => reason === undefined)) {
      assert.match(out, new RegExp(`${name} +agent +Deployment/${name} +Error +False +0 +0 +1\\n`));
    }
  });

  test('a template that is mended is injected, and its AgentRuntime says so by itself', async () => {
    const [row] = templates.filter(({ name }) => name === 'excluded-ports');
    assert.ok(row !== undefined);
    const mended = { metadata: { annotations: { [annotations.outboundPortsExclude]: '80' } } };
    const target = { kind: kinds.deployment, namespace, name: row.name };
    await bed.client.mergePatch(target, { spec: { template: mended } });
    await untilSays(bed.client, runtimeFor(deployment(row)), 'Active/Configured');
    await eventually(async () => {
      const { items } = await bed.client.list(kinds.pod, { namespace, labels: `app=${row.name}` });
      assert.deepEqual(items.filter(isInjected).length, 1);
    });
  });
});
