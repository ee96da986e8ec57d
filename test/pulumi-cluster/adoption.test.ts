/** An install changes hands: what GitOps applied is Pulumi's without a new object, and GitOps's again. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { buildApp } from '../../stacks/app.ts';
import { identitiesOf, type Manifest, manifestsOf, streamOf, treeOf } from '../../stacks/tree.ts';
import { writeTree } from '../../stacks/write-tree.ts';
import { kubectl } from '../policy-cluster/kubectl.ts';
import { startPulumiBed } from './bed.ts';
import type { Stack } from './project.ts';

let bed: Awaited<ReturnType<typeof startPulumiBed>>;
before(async () => {
  bed = await startPulumiBed('adoption');
});
after(() => bed.stop());

const platform = (level: 'info' | 'debug') => ({
  image: 'example.test/rossoctl:1',
  logLevel: level,
  namespaces: [{ name: 'team1', defaults: { mtls: { mode: 'strict' as const } } }],
});

const manifestsFor = (level: 'info' | 'debug') =>
  manifestsOf(buildApp({ environment: 'test', platform: platform(level) }));

const treeFor = (level: 'info' | 'debug'): string => {
  const tree = path.join(bed.plane.dir, `tree-${level}`);
  writeTree(tree, treeOf(manifestsFor(level)), 'test');
  return tree;
};

async function applied(tree: string, ...flags: readonly string[]) {
  return kubectl(bed.plane, ['apply', '--server-side', ...flags, '-R', '-f', tree]);
}

interface Live extends Manifest {
  readonly metadata: Manifest['metadata'] & { readonly uid: string };
}

async function live(tree: string): Promise<readonly Live[]> {
  const { stdout, stderr } = await kubectl(bed.plane, ['get', '-R', '-f', tree, '-o', 'json']);
  assert.ok(stdout.startsWith('{'), stderr);
  return (JSON.parse(stdout) as { readonly items: readonly Live[] }).items;
}

const uidsOf = (objects: readonly Live[]) =>
  objects.map(({ kind, metadata: { name, uid } }) => `${kind} ${name} ${uid}`);

async function operatorSpec(tree: string): Promise<unknown> {
  const operator = (await live(tree)).find(({ kind }) => kind === 'Deployment') as
    | { readonly spec?: unknown }
    | undefined;
  return operator?.spec;
}

async function levelNow(tree: string): Promise<string> {
  return JSON.stringify((await live(tree)).filter(({ kind }) => kind === 'Deployment'));
}

test('from GitOps to Pulumi and back: a conflict is said first, and no object is made anew', {
  timeout: 600_000,
}, async () => {
  const tree = treeFor('info');
  const first = await applied(tree);
  assert.equal(first.code, 0, first.stderr);
  const uids = uidsOf(await live(tree));

  // Not asked to take over, it says whose fields these are, and takes none.
  const stack = await bed.stack('adopted', { platform: platform('debug') });
  await assert.rejects(stack.run('up'), /conflict.*kubectl.*\.args/s);
  assert.match(await levelNow(tree), /--log-level=info/);
  // The same values are not enough: what the API server completed in a policy has one owner as a whole.
  stack.configure({ platform: platform('info') });
  await assert.rejects(stack.run('up'), /conflict.*kubectl.*\.spec\.matchConstraints/s);

  const adopt: Parameters<Stack['configure']>[0] = { platform: platform('debug'), cluster: { adopt: true } };
  stack.configure(adopt);
  await stack.run('up');
  assert.deepEqual(uidsOf(await live(tree)), uids);
  assert.match(await levelNow(tree), /--log-level=debug/);
  assert.deepEqual(await stack.preview(), []);

  // Afterwards `adopt` can go: the hint is all that changes, of every object.
  stack.configure({ platform: platform('debug') });
  const without = await stack.preview();
  assert.deepEqual(
    [...new Set(without.flatMap(({ op, detailedDiff }) => Object.keys(detailedDiff ?? {}).map((at) => `${op} ${at}`)))],
    ['update metadata.annotations["pulumi.com/patchForce"]'],
  );
  const spec = await operatorSpec(tree);
  assert.equal((await stack.run('up'))['updated'], without.length);
  assert.deepEqual(await stack.preview(), []);
  assert.deepEqual(await operatorSpec(tree), spec, 'no pod restarts');

  // Back: GitOps applies, Pulumi's name lets go, the stack is forgotten.
  assert.match((await applied(tree)).stderr, /conflict/i, 'Pulumi still owns what differs');
  const back = await applied(tree, '--force-conflicts');
  assert.equal(back.code, 0, back.stderr);
  const identities = path.join(bed.plane.dir, 'identities.yaml');
  writeFileSync(identities, streamOf(identitiesOf(manifestsFor('info'))));
  const letGo = await applied(identities, '--field-manager=pulumi-rossoctl-adopted');
  assert.equal(letGo.code, 0, letGo.stderr);
  await bed.forget('adopted');
  const now = await live(tree);
  assert.deepEqual(uidsOf(now), uids);
  // The provider updates CRDs where it applies all else, and nobody gives up what was updated.
  assert.doesNotMatch(JSON.stringify(now.filter(({ kind }) => kind !== 'CustomResourceDefinition')), /pulumi/);
  const changed = await applied(treeFor('debug'));
  assert.equal(changed.code, 0, changed.stderr);
  assert.match(await levelNow(tree), /--log-level=debug/);
});
