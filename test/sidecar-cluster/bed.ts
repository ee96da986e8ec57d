/** A lab with a node where the platform runs with the real sidecar, and what tests see of it: pods, their logs, and answers. */

import { execFile } from 'node:child_process';
import assert from 'node:assert/strict';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Pod } from '../../runtime/api/kubernetes.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import { install } from '../../runtime/api/names.ts';
import { buildImage } from '../../scripts/image.ts';
import { buildApp } from '../../stacks/app.ts';
import { readSettings } from '../../stacks/environments.ts';
import { manifestsOf } from '../../stacks/tree.ts';
import { loadImage } from '../lab/load-image.ts';
import { type LabSpire, startLabSpire } from '../lab/spire/lab-spire.ts';
import type { SpireOptions } from '../lab/spire/spire-files.ts';
import { readState } from '../lab/state.ts';
import { isReady, operatorImage, startNode } from '../node-cluster/node-bed.ts';
import { eventually } from '../support/engine-bed.ts';
import { applyAll } from '../support/operator-platform.ts';
import type { Written } from '../support/workload-objects.ts';
import { sidecarImage } from './objects.ts';
import { asking } from './programs.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** What a program in a pod was told: an answer, or why there was none. */
export interface Told {
  readonly status?: number;
  readonly challenge?: string | null;
  readonly retryAfter?: string | null;
  readonly body?: string;
  readonly error?: string;
}

export type SidecarBed = Awaited<ReturnType<typeof startSidecarBed>>;

export interface SidecarBedOptions {
  /** What pods may hold an identity of. Default: there is no SPIRE. */
  readonly spire?: Pick<SpireOptions, 'svidTtl'>;
  /** Default: that tools are injected as agents are, where an AgentRuntime names them. */
  readonly featureGates?: Readonly<Record<string, boolean>>;
}

/** The lab with the platform applied, whose operator may still be starting. Workloads of the tests are in `namespace`. */
export async function startSidecarBed(namespace: string, options: SidecarBedOptions = {}) {
  const node = await startNode();
  const { client } = node;
  let spire: LabSpire | undefined;
  const stop = async (): Promise<void> => {
    await spire?.stop();
    await node.stop();
  };
  try {
    const made = await buildImage({ image: 'sidecar', tag: sidecarImage, out: path.join(node.folder, 'sidecar.tar') });
    await loadImage(node.name, made.file);
    if (options.spire !== undefined) spire = await startLabSpire({ trustDomain, ...options.spire });
    await applyAll(client, platform(options.featureGates, spire?.place));
  } catch (error) {
    await stop();
    throw error;
  }
  const { hostAddress, nodeAddress } = addressesOf(node.name);

  async function kubectl(...parameters: readonly string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [path.join(root, 'test/lab/main.ts'), 'kubectl', '--name', node.name, '-n', namespace, ...parameters],
      { timeout: 60_000 },
    );
    return stdout;
  }

  const podsOf = async (app: string): Promise<readonly Pod[]> =>
    (await client.list<Pod>(kinds.pod, { namespace, labels: `app=${app}` })).items;

  return {
    ...node,
    stop,
    /** There where it was asked for. */
    get spire(): LabSpire {
      if (spire === undefined) throw new Error('the bed was started without SPIRE');
      return spire;
    },
    namespace,
    /** Where an identity provider of this machine is made known to pods. */
    place: { hostAddress, apply: (objects: readonly Written[]) => applyAll(client, objects) },
    /** Where this machine reaches the node, such as its Services' node ports. */
    nodeAddress,
    kubectl,
    podsOf,
    /** What a program in the application's container of a pod of `from` is told. */
    ask: async (from: string, url: string, token = ''): Promise<Told> => {
      const program = ['/usr/bin/node', '-e', asking, url, token];
      const out = await kubectl('exec', `deploy/${from}`, '-c', 'app', '--', ...program);
      return JSON.parse(out.trim().split('\n').at(-1) ?? '') as Told;
    },
    untilOperatorRuns: () =>
      eventually(async () => {
        const own = { namespace: install.namespace, name: install.deployment };
        const { status } = await client.get(kinds.deployment, own);
        assert.equal((status as { readonly readyReplicas?: number } | undefined)?.readyReplicas, 2);
      }, 120_000),
    /** The one pod of a workload, injected and ready, once its rollout is over. */
    untilInjected: async (app: string): Promise<Pod> => {
      let found: Pod | undefined;
      await eventually(async () => {
        const [pod, ...more] = await podsOf(app);
        assert.equal(more.length, 0, `the rollout of ${app} is over`);
        assert.ok(pod !== undefined && isReady(pod) && (pod.spec.initContainers?.length ?? 0) > 0, `${app} is ready`);
        found = pod;
      }, 120_000);
      if (found === undefined) throw new Error(`no pod of ${app}`);
      return found;
    },
  };
}

/** As the environment `local` has it. */
const trustDomain = 'lab.local';

/** The platform with the real sidecar in place of the stand-in. */
function platform(
  featureGates: Readonly<Record<string, boolean>> = { injectTools: true },
  spiffe: object = {},
): readonly Written[] {
  const settings = readSettings('local', { image: operatorImage });
  if (!('platform' in settings)) throw new Error('local is no environment of a platform');
  const { config } = settings.platform;
  const objects = manifestsOf(
    buildApp({
      ...settings,
      platform: { ...settings.platform, featureGates, config: { ...config, spiffe: { ...config?.spiffe, ...spiffe } } },
    }),
  );
  const text = JSON.stringify(objects).replaceAll('lab.local/rossoctl-sidecar:dev', sidecarImage);
  return JSON.parse(text) as readonly Written[];
}

function addressesOf(name: string) {
  const state = readState(name);
  if (state?.kind !== 'node') throw new Error(`the lab ${name} has no node`);
  return { hostAddress: state.hostAddress, nodeAddress: new URL(state.server).hostname };
}
