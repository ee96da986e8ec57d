/** A lab of the tests' own with a node, the operator's image and the stand-ins loaded, the platform installed from the synthesized manifests alone. */

import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { writeAgentImage } from '../../examples/demo/images.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import type { Deployment, Pod } from '../../runtime/api/kubernetes.ts';
import { install } from '../../runtime/api/names.ts';
import { createClient } from '../../runtime/engine/client.ts';
import { systemClock } from '../../runtime/engine/clock.ts';
import { kubeconfigConnection } from '../../runtime/engine/kubeconfig.ts';
import { unlimited } from '../../runtime/engine/limiter.ts';
import { createMetrics } from '../../runtime/engine/metrics.ts';
import { createTransport } from '../../runtime/engine/transport.ts';
import { buildImage } from '../../scripts/image.ts';
import { buildApp } from '../../stacks/app.ts';
import { readSettings } from '../../stacks/environments.ts';
import { manifestsOf } from '../../stacks/tree.ts';
import { down } from '../lab/down.ts';
import { loadImage } from '../lab/load-image.ts';
import { labKubeconfigPath } from '../lab/locations.ts';
import { ensureBusybox } from '../lab/node/busybox.ts';
import { reportToStderr } from '../lab/progress.ts';
import { up } from '../lab/up.ts';
import { eventually } from '../support/engine-bed.ts';
import { applyAll } from '../support/operator-platform.ts';
import type { Written } from '../support/workload-objects.ts';
import { writeStandIn } from './stand-in.ts';

/** An agent that serves HTTP; from `writeAgentImage`. */
export const agentImage = 'lab.local/demo-agent:1';
/** Built from this checkout. */
export const operatorImage = 'lab.local/rossoctl:test';

/** The lab alone, with the images loaded and nothing installed. */
export async function startNode() {
  const name = `node-${randomBytes(3).toString('hex')}`;
  const folder = mkdtempSync(path.join(tmpdir(), 'node-cluster-'));
  const end = async (): Promise<void> => {
    await down(name);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const [, made, busybox] = await Promise.all([
      up({ name, isControlPlaneOnly: false, context: undefined }, reportToStderr),
      buildImage({ tag: operatorImage, out: path.join(folder, 'operator.tar') }),
      ensureBusybox(reportToStderr),
    ]);
    const plain = [writeAgentImage(busybox, folder), writeStandIn(busybox, folder)];
    for (const file of [made.file, ...plain]) await loadImage(name, file);
    const kubeconfig = labKubeconfigPath(name);
    const connection = await kubeconfigConnection({ path: kubeconfig }, systemClock);
    const metrics = createMetrics({ process: false });
    const transport = createTransport({
      connection,
      clock: systemClock,
      metrics,
      limiter: unlimited,
      userAgent: 'user',
    });
    const client = createClient(transport);
    return {
      name,
      client,
      transport,
      connection,
      kubeconfig,
      /** Goes with it. */
      folder,
      stop: async (): Promise<void> => {
        await client.close();
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

export async function startNodeBed() {
  const node = await startNode();
  const { client, transport, connection, kubeconfig } = node;
  try {
    const objects = manifestsOf(
      buildApp(readSettings('local', { image: operatorImage })),
    ) as unknown as readonly Written[];
    await applyAll(client, objects);
    const own = { namespace: install.namespace, name: install.deployment };
    const bed = {
      client,
      transport,
      connection,
      kubeconfig,
      objects,
      operatorPods: async () =>
        (await podsOf(install.namespace)).filter(
          ({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === 'operator',
        ),
      /** Pods that are not on their way out. */
      podsOf,
      scaleOperator,
      /** Scales it to nothing; a pod that is ending still serves for a while. */
      untilOperatorIsGone: async () => {
        await scaleOperator(0);
        await eventually(async () => {
          const { items } = await client.list<Pod>(kinds.pod, { namespace: install.namespace });
          if (items.length > 0) throw new Error(`${items.length} pods are left`);
        }, 60_000);
      },
      untilOperatorRuns: (replicas: number) =>
        eventually(async () => {
          const { status, metadata } = await client.get<Deployment>(kinds.deployment, own);
          const said = `${status?.updatedReplicas ?? 0} new, ${status?.availableReplicas ?? 0} available, ${status?.replicas ?? 0} in all`;
          const isSo =
            status?.observedGeneration === metadata.generation &&
            said === `${replicas} new, ${replicas} available, ${replicas} in all`;
          if (!isSo) throw new Error(said);
        }, 120_000),
      stop: node.stop,
    };
    async function scaleOperator(replicas: number): Promise<void> {
      await client.mergePatch({ kind: kinds.deployment, ...own }, { spec: { replicas } });
    }
    async function podsOf(namespace: string, app?: string): Promise<readonly Pod[]> {
      const { items } = await client.list<Pod>(kinds.pod, {
        namespace,
        ...(app === undefined ? {} : { labels: `app=${app}` }),
      });
      return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    }
    return bed;
  } catch (error) {
    await node.stop();
    throw error;
  }
}

export type NodeBed = Awaited<ReturnType<typeof startNodeBed>>;

export function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;
}

/** A pod of nobody's, for one second or for long. */
export function pod(namespace: string, name: string, labels: Readonly<Record<string, string>> = {}): Written {
  const container = {
    name: 'agent',
    image: agentImage,
    imagePullPolicy: 'Never',
    env: [{ name: 'PORT', value: '8080' }],
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, labels },
    spec: { containers: [container], terminationGracePeriodSeconds: 0 },
  };
}
