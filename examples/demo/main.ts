/** `npm run demo`: the main job on a real cluster, narrated, by one command. */

import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { parseCommandLine } from '../../scripts/command-line.ts';
import { buildImage } from '../../scripts/image.ts';
import { labKubeconfigPath } from '../../test/lab/locations.ts';
import { ensureBusybox } from '../../test/lab/node/busybox.ts';
import type { Authority } from '../../test/support/svid.ts';
import { publishBundle } from './cards.ts';
import { cluster, DemoFailure, runScript } from './cluster.ts';
import { writeDemoImages } from './images.ts';
import { narration } from './narration.ts';
import { tellStory } from './story.ts';

const root = path.resolve(import.meta.dirname, '../..');

const usage = `usage: npm run demo -- [--lab NAME [--only-images] | --context NAME [--image REF]]

Brings up a lab (or uses a cluster of yours), installs the platform, deploys two agents and narrates what happens.
Ends by itself, leaves the cluster up, and says how to look around and how to remove it.

  --lab NAME       name of the lab (default demo)
  --only-images    bring up the lab, load the images of operator, agent and sidecars' stand-ins, and stop there
  --context NAME   a context of your kubeconfig instead of a lab; its nodes must have the images (dist/*.tar)
  --image REF      image of the operator (default lab.local/rossoctl:dev, built and loaded into the lab)
`;

const values = parseCommandLine(usage, {
  lab: { type: 'string', default: 'demo' },
  'only-images': { type: 'boolean', default: false },
  context: { type: 'string' },
  image: { type: 'string', default: 'lab.local/rossoctl:dev' },
});

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
  tell.step('Images: the operator from this checkout, and stand-ins for the injected containers');
  const folder = path.join(root, 'dist');
  mkdirSync(folder, { recursive: true });
  const made = await buildImage({ tag: values.image, out: path.join(folder, 'rossoctl-image.tar') });
  const busybox = await ensureBusybox((line) => tell.say(line));
  for (const file of [made.file, ...writeDemoImages(busybox, folder)])
    tell.show(await script('test/lab/main.ts', 'load', file, '--name', lab));
}

async function install(lab: string): Promise<Authority> {
  tell.step('The platform, from the synthesized manifests and nothing else');
  const out = path.join(root, 'dist/manifests/demo');
  await script('stacks/synth.ts', '--env', 'demo', '--out', out, '--image', values.image);
  const at = cluster(lab);
  const authority = await publishBundle(at);
  tell.show(await at.kubectl(['apply', '--server-side', '-R', '-f', out]));
  await at.kubectl(['rollout', 'status', 'deployment/rossoctl-operator', '-n', 'rossoctl-system', '--timeout=120s']);
  tell.show(await at.kubectl(['get', 'pods', '-n', 'rossoctl-system']));
  return authority;
}

async function main(): Promise<void> {
  const { lab, context, 'only-images': onlyImages } = values;
  if (onlyImages && context !== undefined) {
    throw new DemoFailure('--only-images loads into a lab: leave out --context, whose nodes get images their own way');
  }
  await bringUp(lab, context);
  if (context === undefined) await loadImages(lab);
  if (onlyImages) {
    tell.step(`The images are in the lab ${lab}, and nothing is installed`);
    return;
  }
  const authority = await install(lab);
  await tellStory({ cluster: cluster(lab), tell, authority, agentImage: 'lab.local/demo-agent:1' });
  tell.step('Done. The cluster is still up');
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
