/** The variables by which an application's own HTTP clients use the proxy, in a pod where nothing makes them. */

import type { Container, EnvVar } from '../api/kubernetes.ts';
import { meshContainers } from '../config/conflicts.ts';

/** Never by the proxy: the pod itself, and the API server, whose address the kubelet fills in. */
const direct = [
  'localhost',
  '127.0.0.1',
  '::1',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
  '$(KUBERNETES_SERVICE_HOST)',
].join(',');

type Group = readonly [names: readonly string[], value: (proxy: string) => string];

/** Names that mean the same to different libraries; where the owner has set one, none is added. */
const groups: readonly Group[] = Object.freeze<Group[]>([
  [['HTTP_PROXY', 'http_proxy'], (proxy) => proxy],
  [['HTTPS_PROXY', 'https_proxy'], (proxy) => proxy],
  [['NO_PROXY', 'no_proxy'], () => direct],
  // Without it Node's own clients do not read the others.
  [['NODE_USE_ENV_PROXY'], () => '1'],
]);

/** The container with the variables it does not set itself; the same one when it has its own proxy, or all of them already, and that of a mesh. */
export function throughProxy(container: Container, port: number): Container {
  if (meshContainers.includes(container.name) || ownOf(container, 'HTTP_PROXY') !== undefined) return container;
  const added = groups
    .filter(([names]) => names.every((name) => settingOf(container, name) === undefined))
    .flatMap(([names, value]) => names.map((name): EnvVar => ({ name, value: value(`http://127.0.0.1:${port}`) })));
  return added.length === 0 ? container : { ...container, env: [...(container.env ?? []), ...added] };
}

/** Why calls of the container do not pass the proxy: what its owner has set is kept. */
export function proxyDefeats(container: Container): readonly string[] {
  const proxy = ownOf(container, 'HTTP_PROXY');
  if (proxy !== undefined) {
    return [
      `container ${container.name} sets ${proxy.name} itself, which is kept: its calls do not pass envoy-proxy, and no tokens are exchanged for them; remove the variable`,
    ];
  }
  const direct = ownOf(container, 'NO_PROXY');
  const defeating = entriesOf(direct?.value).find((entry) => everything.test(entry));
  return direct === undefined || defeating === undefined
    ? []
    : [
        `container ${container.name} sets ${direct.name} itself, which is kept: its entry ${JSON.stringify(defeating)} lets calls to the cluster's Services go past envoy-proxy, without tokens exchanged; remove the entry`,
      ];
}

/** All hosts, or all of the cluster's Services. */
const everything = /^(?:\*|(?:\*?\.)?(?:svc|local|cluster\.local|svc\.cluster\.local))$/;

const entriesOf = (list = ''): readonly string[] => list.split(/[\s,]+/);

/** The owner's variable of that name, in whichever case. */
function ownOf(container: Container, name: string): EnvVar | undefined {
  return settingOf(container, name) ?? settingOf(container, name.toLowerCase());
}

function settingOf({ env = [] }: Container, wanted: string): EnvVar | undefined {
  return env.findLast(({ name }) => name === wanted);
}
