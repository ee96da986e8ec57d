/** The second half of the main job: a card is fetched, verified against an identity, and the network follows the verdict. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { AgentCard } from '../../runtime/api/agent-card.ts';
import type { Pod, Service } from '../../runtime/api/kubernetes.ts';
import { labels, spiffeId } from '../../runtime/api/names.ts';
import type { Authority } from '../../test/support/svid.ts';
import { type Cluster, DemoFailure, runScript, until } from './cluster.ts';
import { agentCard } from './images.ts';
import type { Narration } from './narration.ts';

export interface CardTelling {
  readonly cluster: Cluster;
  readonly tell: Narration;
  readonly authority: Authority;
}

/** As `stacks/Pulumi.demo.yaml` has it. */
const trustDomain = 'lab.local';

/** Seconds that the first certificate of the weather agent holds; on a machine too busy for that, twice as many, and so on. */
const shortLife = 20;

/** The authority above SPIRE's, where SPIRE would publish it. */
export async function publishBundle(cluster: Cluster, authority: Authority): Promise<void> {
  await cluster.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'spire' } },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'spire-bundle', namespace: 'spire' },
      data: { 'bundle.crt': authority.pem },
    },
  ]);
}

interface Agent {
  readonly namespace: string;
  readonly name: string;
}
const weather: Agent = { namespace: 'team1', name: 'weather' };
const billing: Agent = { namespace: 'team2', name: 'billing' };

const cardName = ({ name }: Agent) => `${name}-deployment-card`;

async function podOf(cluster: Cluster, { namespace, name }: Agent): Promise<Pod> {
  const selector = `app.kubernetes.io/name=${name},${labels.type}=agent`;
  const { items } = await cluster.get<{ readonly items: readonly Pod[] }>(['pods', '-n', namespace, '-l', selector]);
  const pod = items.find(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (pod === undefined) throw new DemoFailure(`${namespace}/${name} has no injected pod`);
  return pod;
}

/** Signs the agent's card with `rossoctl sign` and puts it where the running pod serves it. */
export async function sign({ cluster, authority }: CardTelling, agent: Agent, seconds: number): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'rossoctl-demo-'));
  try {
    const id = spiffeId(trustDomain, agent.namespace, agent.name);
    const svid = await authority.issue(id, { notAfter: new Date(Date.now() + seconds * 1000) });
    const write = (name: string, content: string): string => {
      writeFileSync(path.join(folder, name), content, { mode: 0o600 });
      return path.join(folder, name);
    };
    const input = write('card.json', JSON.stringify(agentCard(agent.name, agent.namespace)));
    const files = ['--key', write('key.pem', svid.key), '--chain', write('chain.pem', svid.chain)];
    const { code, out, err } = await runScript('runtime/cli/run.ts', ['sign', input, ...files]);
    if (code !== 0 || out === '') throw new DemoFailure(`rossoctl sign failed with exit code ${code}: ${err}`);
    const { metadata } = await podOf(cluster, agent);
    const place = '/tmp/www/.well-known/agent-card.json';
    const save = ['--', 'sh', '-c', `cat > ${place}.new && mv ${place}.new ${place}`];
    await cluster.kubectl(['exec', '-i', '-n', agent.namespace, metadata.name ?? '', '-c', 'agent', ...save], out);
    return out;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Signs the card of the agent that will call the other one; its verdict may come while other things are told. */
export async function signBilling(telling: CardTelling): Promise<void> {
  await sign(telling, billing, 3600);
}

async function verdict(cluster: Cluster, agent: Agent, wanted: 'True' | 'False'): Promise<string>;
/** Undefined when it has not come at `end` (wall clock, milliseconds). */
async function verdict(cluster: Cluster, agent: Agent, wanted: 'True', end: number): Promise<string | undefined>;
async function verdict(cluster: Cluster, agent: Agent, wanted: 'True' | 'False', end = Infinity) {
  const found = await until(`the card of ${agent.name} to be Verified=${wanted}`, async () => {
    const { status } = await cluster.get<AgentCard>(['agentcard', cardName(agent), '-n', agent.namespace]);
    const condition = status?.conditions?.find(({ type, status: value }) => type === 'Verified' && value === wanted);
    if (condition !== undefined) return { message: `${condition.reason}: ${condition.message}` };
    return Date.now() < end ? undefined : { message: undefined };
  });
  return found.message;
}

/** The rhythm of a card is its owner's to set; half a minute, the default, would be most of the demo. */
async function askOften(cluster: Cluster, agent: Agent): Promise<void> {
  const patch = JSON.stringify({ spec: { syncPeriod: '5s' } });
  await cluster.kubectl(['patch', 'agentcard', cardName(agent), '-n', agent.namespace, '--type', 'merge', '-p', patch]);
}

/** Waits until billing can, or can no longer, fetch the weather agent's card; a call that hangs is given up after a second. */
async function probe(cluster: Cluster, wanted: 'open' | 'closed'): Promise<void> {
  const { metadata } = await podOf(cluster, billing);
  // By address: the static busybox of the demo's image does not look up names.
  const service = await cluster.get<Service>(['service', weather.name, '-n', weather.namespace]);
  const at = ['exec', '-n', billing.namespace, metadata.name ?? '', '-c', 'agent', '--'];
  const call = `timeout 1 wget -q -O /dev/null http://${service.spec?.clusterIP ?? ''}:8080/.well-known/agent-card.json && echo open || echo closed`;
  await until(`the way from billing to weather to be ${wanted}`, async () =>
    (await cluster.kubectl([...at, 'sh', '-c', call])).trim() === wanted ? true : undefined,
  );
}

/** Signs for a short time and tells that the network is open; what ended before it was verified is signed for longer. */
async function signShortly(telling: CardTelling): Promise<string> {
  for (let seconds = shortLife; ; seconds *= 2) {
    const signed = await sign(telling, weather, seconds);
    const end = Date.now() + seconds * 1000;
    const message = await verdict(telling.cluster, weather, 'True', end);
    if (message !== undefined) {
      await shown(telling, message, 'open');
      return signed;
    }
    telling.tell.say(`That was too short for this machine today; once more, with ${2 * seconds} s.`);
  }
}

async function shown({ cluster, tell }: CardTelling, message: string, way: 'open' | 'closed'): Promise<void> {
  tell.show(message);
  await probe(cluster, way);
  tell.show(`billing → weather: ${way}`);
}

/** Tells it on a cluster whose operator verifies and enforces. Throws when anything is not as told, or a pod was restarted. */
export async function tellCards(telling: CardTelling): Promise<void> {
  const { cluster, tell, authority } = telling;
  const before = await podOf(cluster, weather);
  tell.step(
    'Agents are discovered: their cards are fetched; nobody has signed the one of weather, so its network is closed',
  );
  const unsigned = await verdict(cluster, weather, 'False');
  await Promise.all([weather, billing].map((agent) => askOften(cluster, agent)));
  await verdict(cluster, billing, 'True');
  tell.show(await cluster.kubectl(['get', 'agentcards', '-A']));
  await shown(telling, unsigned, 'closed');

  tell.step(`weather signs its card with an identity that ends in ${shortLife} s  [rossoctl sign]`);
  const signed = await signShortly(telling);
  const folder = mkdtempSync(path.join(tmpdir(), 'rossoctl-demo-'));
  try {
    const bundle = path.join(folder, 'bundle.crt');
    writeFileSync(bundle, authority.pem);
    tell.say('The same, offline:  rossoctl verify CARD --bundle FILE --trust-domain lab.local');
    const args = ['verify', '-', '--bundle', bundle, '--trust-domain', trustDomain];
    tell.show((await runScript('runtime/cli/run.ts', args, { input: signed })).out);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  tell.show(await cluster.kubectl(['get', 'pods', '-A', '-l', `${labels.signatureVerified}=true`]));

  tell.step('The certificate ends, and the verdict with it');
  await shown(telling, await verdict(cluster, weather, 'False'), 'closed');

  tell.step('Signed again: open again, and no pod was restarted by any of it');
  await sign(telling, weather, 3600);
  await shown(telling, await verdict(cluster, weather, 'True'), 'open');
  const after = await podOf(cluster, weather);
  if (after.metadata.uid !== before.metadata.uid) throw new DemoFailure('the pod of weather was replaced');
  tell.show(`pod ${after.metadata.name ?? ''} has been the same from the first verdict to the last`);
}
