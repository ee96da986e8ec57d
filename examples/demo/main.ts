/** `npm run demo`: the main job on a real cluster, narrated, by one command. */

import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { parseCommandLine } from '../../scripts/command-line.ts';
import { buildImage } from '../../scripts/image.ts';
import { buildApp } from '../../stacks/app.ts';
import { readSettings } from '../../stacks/environments.ts';
import { manifestsOf, treeOf } from '../../stacks/tree.ts';
import { writeTree } from '../../stacks/write-tree.ts';
import { labKubeconfigPath } from '../../test/lab/locations.ts';
import { ensureBusybox } from '../../test/lab/node/busybox.ts';
import type { SpiffePlace } from '../../test/lab/spire/lab-spire.ts';
import { providerUrl, realm } from '../../test/support/identity-provider.ts';
import { type Authority, createAuthority } from '../../test/support/svid.ts';
import type { Beside } from './calls.ts';
import { publishBundle } from './cards.ts';
import { cluster, DemoFailure, runScript } from './cluster.ts';
import { startBeside } from './beside.ts';
import { writeAgentImage } from './images.ts';
import { narration } from './narration.ts';
import { reported } from './patience.ts';
import { tellStory } from './story.ts';
import { namespace as team3 } from './team3.ts';

const root = path.resolve(import.meta.dirname, '../..');

const usage = `usage: npm run demo -- [--lab NAME [--only-images] | --context NAME [--image REF]]

Brings up a lab (or uses a cluster of yours), installs the platform, deploys agents, calls them and narrates what happens.
Ends by itself, leaves the cluster up, and says how to look around and how to remove it. Exit code 1: something was not as told.

A real Keycloak and a real SPIRE run beside the lab as long as the demo does. With --context there are none, and nobody calls.


  --lab NAME       name of the lab (default demo)
  --only-images    bring up the lab, load the images of operator, sidecar and agent, and stop there
  --context NAME   a context of your kubeconfig instead of a lab; its nodes must have the images (dist/*.tar)
  --image REF      image of the operator (default lab.local/rossoctl:dev, built and loaded into the lab)
`;

const values = parseCommandLine(usage, {
  lab: { type: 'string', default: 'demo' },
  'only-images': { type: 'boolean', default: false },
  context: { type: 'string' },
  image: { type: 'string', default: 'lab.local/rossoctl:dev' },
});

/** What `stacks/Pulumi.demo.yaml` injects. */
const sidecarImage = 'lab.local/rossoctl-sidecar:dev';

const tell = narration(process.stdout);

async function script(file: string, ...args: readonly string[]): Promise<string> {
  const { code, out } = await runScript(file, args, { show: true });
  if (code !== 0) throw new DemoFailure(`node ${file} ${args.join(' ')} failed with exit code ${code}`);
  return out;
}

async function bringUp(lab: string, context: string | undefined): Promise<void> {
  tell.step(context === undefined ? 'A real one-node cluster' : `The cluster of context ${context}`);
  await script('test/lab/main.ts', 'up', '--name', lab, ...(context === undefined ? [] : ['--context', context]));
  tell.show(await cluster(lab).kubectl(['version']));
}

async function loadImages(lab: string): Promise<void> {
  tell.step('Images from this checkout: the operator, and what is injected');
  const folder = path.join(root, 'dist');
  mkdirSync(folder, { recursive: true });
  const made = await buildImage({ tag: values.image, out: path.join(folder, 'rossoctl-image.tar') });
  const out = path.join(folder, 'rossoctl-sidecar-image.tar');
  const sidecar = await buildImage({ image: 'sidecar', tag: sidecarImage, out });
  const busybox = await ensureBusybox((line) => tell.say(line));
  for (const file of [made.file, sidecar.file, writeAgentImage(busybox, folder)])
    tell.show(await script('test/lab/main.ts', 'load', file, '--name', lab));
}

/** Starts what stands beside the lab while its images are loaded. */
async function prepare(lab: string, authority: Authority): Promise<Beside> {
  // What an earlier demo left there has a client of that demo's Keycloak; its pods take half a minute to end.
  await cluster(lab).kubectl(['delete', 'namespace', team3, '--ignore-not-found', '--wait=false']);
  const starting = startBeside({ lab, cluster: cluster(lab), authority });
  const [beside] = await reported('images, Keycloak and SPIRE', Promise.all([starting, loadImages(lab)]));
  tell.step('Beside the cluster, as long as the demo runs: Keycloak and SPIRE');
  tell.show(`${providerUrl}/realms/${realm}  for pods\n${beside.spire.place.socketPath}`);
  return beside;
}

/** The environment `demo`, where SPIRE's socket is where it is this time. */
function writeManifests(out: string, spiffe: SpiffePlace | undefined): void {
  const settings = readSettings('demo', { image: values.image });
  if (!('platform' in settings)) throw new DemoFailure('stacks/Pulumi.demo.yaml is no environment of a platform');
  const { platform } = settings;
  const config = { ...platform.config, spiffe: { ...platform.config?.spiffe, ...spiffe } };
  writeTree(out, treeOf(manifestsOf(buildApp({ ...settings, platform: { ...platform, config } }))), 'demo');
}

async function install(lab: string, authority: Authority, spiffe: SpiffePlace | undefined): Promise<void> {
  tell.step('The platform, from the synthesized manifests and nothing else');
  const out = path.join(root, 'dist/manifests/demo');
  writeManifests(out, spiffe);
  const at = cluster(lab);
  await publishBundle(at, authority);
  const operator = ['deployment/rossoctl-operator', '-n', 'rossoctl-system'];
  const before = await at.kubectl(['get', ...operator, '--ignore-not-found', '-o', 'name']);
  tell.show(await at.kubectl(['apply', '--server-side', '-R', '-f', out]));
  // That of an earlier demo runs what the image of this tag was then.
  if (before !== '') await at.kubectl(['rollout', 'restart', ...operator]);
  await at.kubectl(['rollout', 'status', ...operator, '--timeout=120s']);
  tell.show(await at.kubectl(['get', 'pods', '-n', 'rossoctl-system']));
}

async function main(): Promise<void> {
  const { lab, context, 'only-images': onlyImages } = values;
  if (onlyImages && context !== undefined) {
    throw new DemoFailure('--only-images loads into a lab: leave out --context, whose nodes get images their own way');
  }
  await bringUp(lab, context);
  if (onlyImages) {
    await loadImages(lab);
    tell.step(`The images are in the lab ${lab}, and nothing is installed`);
    return;
  }
  const authority = await createAuthority('demo');
  const beside = context === undefined ? await prepare(lab, authority) : undefined;
  await install(lab, authority, beside?.spire.place);
  const at = cluster(lab);
  const calls = beside && { cluster: at, tell, beside, nodeImage: sidecarImage };
  await tellStory({ cluster: at, tell, authority, agentImage: 'lab.local/demo-agent:1', calls });
  await Promise.all([beside?.provider.stop(), beside?.spire.stop()]);
  tell.step('Done. The cluster is still up; Keycloak and SPIRE have ended');
  tell.say(`look around:  npm run lab -- kubectl --name ${lab} get agentruntimes,agentcards,networkpolicies,pods -A`);
  tell.say(`on one screen:  KUBECONFIG=${path.relative(process.cwd(), labKubeconfigPath(lab))} npx rossoctl status`);
  tell.say(`what would be injected, and why:  npx rossoctl inject -f FILE --explain`);
  tell.say(`remove it:    npm run lab -- down --name ${lab}`);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`\ndemo: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
