/** A control plane behind a recording proxy, and a namespace of its own for each test of watches. */

import { after, afterEach, before, beforeEach } from 'node:test';
import type { Cache } from '../../runtime/engine/cache.ts';
import type { Change, KubeObject, Watch } from '../../runtime/engine/types.ts';
import { type ControlPlane, startControlPlane } from '../lab/control-plane.ts';
import {
  type Bed,
  type ConfigMap,
  configMap,
  configMaps,
  createBed,
  makeNamespace,
  portOf,
  reach,
} from './engine-bed.ts';
import { type HttpProxy, type Recorded, startHttpProxy } from './http-proxy.ts';

export interface WatchBed {
  readonly plane: ControlPlane;
  readonly proxy: HttpProxy;
  /** Straight to the API server. */
  readonly direct: Bed;
  /** Through the proxy, with short back-offs. */
  readonly bed: Bed;
  readonly namespace: string;
}

/** Registers the hooks; the values are there once a test runs. `prepare` runs once on the new control plane. */
export function useWatchBed(name: string, prepare: (direct: Bed) => Promise<void> = () => Promise.resolve()) {
  let current: WatchBed | undefined;
  let count = 0;
  const now = (): WatchBed => {
    if (current === undefined) throw new Error('only inside a test');
    return current;
  };
  before(async () => {
    const plane = await startControlPlane({ name });
    const { certificatesDir } = plane;
    const proxy = await startHttpProxy(plane, { dir: certificatesDir, name: 'kube-apiserver' });
    const direct = createBed(reach({ port: portOf(plane), certificatesDir }));
    const timings = { backOff: { baseMs: 50, capMs: 400, jitter: 0.5 } };
    const bed = createBed(reach({ port: proxy.port, certificatesDir }), { cache: { timings } });
    current = { plane, proxy, direct, bed, namespace: '' };
    await prepare(direct);
  });
  after(async () => {
    const { plane, proxy, direct, bed } = now();
    await bed.close();
    await direct.close();
    await proxy.close();
    await plane.stop();
  });
  beforeEach(async () => {
    count += 1;
    const namespace = await makeNamespace(now().direct.client, `${name}-${count}`);
    now().proxy.requests.length = 0;
    current = { ...now(), namespace };
  });
  afterEach(() => now().bed.stopCaches());

  const isOurs = ({ url }: Recorded): boolean => url.includes(`/${now().namespace}/`);
  const isWatch = (request: Recorded): boolean => isOurs(request) && request.url.includes('watch=true');
  return {
    now,
    isWatch,
    /** Requests in the test's namespace. */
    watches: () => now().proxy.requests.filter(isWatch),
    lists: () => now().proxy.requests.filter((request) => isOurs(request) && !isWatch(request)),
    put: (object: string, data: Readonly<Record<string, string>> = {}): Promise<KubeObject> => {
      const { direct, namespace } = now();
      return direct.client.apply(
        { kind: configMaps, body: configMap(namespace, object, data) },
        { fieldManager: 'test' },
      );
    },
    drop: (object: string): Promise<void> => {
      const { direct, namespace } = now();
      return direct.client.remove({ kind: configMaps, namespace, name: object });
    },
    watchOf: (more: Partial<Watch<ConfigMap>> = {}): Watch<ConfigMap> => {
      const { namespace } = now();
      return { id: `maps-${namespace}`, kind: configMaps, namespace, ...more };
    },
  };
}

/** The watch once it is synced: its changes from then on, as `add a`, `update b`, `delete c`. */
export async function follow(cache: Cache, watch: Watch<ConfigMap>): Promise<string[]> {
  const changes: string[] = [];
  await cache.synced(watch);
  let isLive = false;
  cache.subscribe(watch, (change) => isLive && changes.push(textOf(change)));
  isLive = true;
  return changes;
}

function textOf({ old, now }: Change<ConfigMap>): string {
  const verb = old === undefined ? 'add' : now === undefined ? 'delete' : 'update';
  return `${verb} ${(now ?? old)?.metadata.name}`;
}
