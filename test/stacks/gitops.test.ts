/** What GitOps tools are given beside a tree: whole as golden files, and held against what the operator writes and the tree holds. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { App, Chart } from 'cdk8s';
import { parse } from 'yaml';
import { Agent } from '../../constructs/index.ts';
import { labels } from '../../runtime/api/names.ts';
import { enrolment } from '../../runtime/workload/fragment.ts';
import { workloadRows } from '../../runtime/workload/kinds.ts';
import { workloadOf } from '../../runtime/workload/workload.ts';
import { buildApp } from '../../stacks/app.ts';
import { readSettings } from '../../stacks/environments.ts';
import { gitOpsFiles } from '../../stacks/gitops/files.ts';
import { type GitOpsFlags, gitOpsOf, UsageError } from '../../stacks/gitops/flags.ts';
import { operatorFields, operatorFieldsOn } from '../../stacks/gitops/operator-fields.ts';
import { groupsOf, type Manifest, manifestsOf, treeOf } from '../../stacks/tree.ts';
import { assertGolden } from '../constructs/golden.ts';

const flags: GitOpsFlags = { gitops: ['argocd', 'flux'], repo: 'https://git.example/ops.git', path: 'clusters/dev' };

function filesOf(manifests: readonly Manifest[], more: GitOpsFlags = {}): ReadonlyMap<string, string> {
  const wanted = gitOpsOf('dev', { ...flags, ...more });
  assert.ok(wanted !== undefined);
  return new Map(gitOpsFiles(manifests, wanted).map(({ path, text }) => [path, text]));
}

const platform = manifestsOf(buildApp(readSettings('dev')));

/** An agent of a team, in an app of its own. */
function agents(): readonly Manifest[] {
  const app = new App();
  const chart = new Chart(app, 'agents', { namespace: 'team1', disableResourceNameHashes: true });
  new Agent(chart, 'weather', { image: 'registry.example/weather:1', card: true });
  return manifestsOf(app);
}

const golden: readonly (readonly [name: string, manifests: readonly Manifest[]])[] = [
  ['platform', platform],
  ['agents', agents()],
];
for (const [name, manifests] of golden) {
  for (const tool of ['argocd', 'flux']) {
    test(`golden: what ${tool} is given for ${name}`, () => {
      const texts = [...filesOf(manifests)].filter(([path]) => path.startsWith(`${tool}/`)).map(([, text]) => text);
      assertGolden(`gitops-${name}-${tool}.yaml`, texts.join('---\n'));
    });
  }

  test(`${name}: the tree is the one of every other output, in a folder of its own`, () => {
    const tree = new Map(treeOf(manifests).map(({ path, text }) => [`manifests/${path}`, text]));
    const files = filesOf(manifests);
    assert.deepEqual(new Map([...files].filter(([path]) => path.startsWith('manifests/'))), tree);
    const others = [...files.keys()].filter((path) => !tree.has(path));
    assert.deepEqual([...new Set(others.map((path) => path.split('/')[0]))], ['argocd', 'flux']);
  });

  test(`${name}: what is applied where tells one group from the next for both tools`, () => {
    const files = filesOf(manifests);
    const groups = [...new Set(treeOf(manifests).map(({ path }) => path.split('/')[0] ?? ''))]
      .filter((name) => name !== 'Kustomization')
      .sort();
    const steps = groups.map((group) => parse(files.get(`flux/${group}.yaml`) ?? '') as FluxStep);
    steps.forEach(({ metadata, spec }, index) => {
      assert.equal(metadata.name, `rossoctl-dev-${groups[index]}`);
      assert.ok(files.has(`${spec.path.replace('./clusters/dev/', '')}/Kustomization`), spec.path);
      assert.deepEqual(spec.dependsOn ?? [], index === 0 ? [] : [{ name: `rossoctl-dev-${groups[index - 1]}` }]);
    });
    const { spec } = parse(files.get('argocd/application.yaml') ?? '') as Application;
    assert.equal(spec.source.path, 'clusters/dev/manifests');
    const kinds = spec.source.kustomize.patches.map(({ target }) => target.kind.split('|'));
    assert.deepEqual(
      kinds,
      groupsOf(manifests).map((group) => group.kinds),
    );
    const waves = spec.source.kustomize.patches.map(({ patch }) => /sync-wave: "(\d+)"/.exec(patch)?.[1]);
    assert.deepEqual(
      waves.map(Number),
      groups.map((group) => Number(group.slice(0, 2))),
    );
  });
}

interface FluxStep {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly path: string; readonly prune: boolean; readonly dependsOn?: readonly object[] };
}
interface Application {
  readonly spec: {
    readonly source: {
      readonly targetRevision: string;
      readonly path: string;
      readonly kustomize: {
        readonly patches: readonly { readonly target: { readonly kind: string }; readonly patch: string }[];
      };
    };
  };
}

/** Paths of the values in an object. */
function leaves(value: unknown, at: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [at];
  return Object.entries(value).flatMap(([key, child]) => leaves(child, [...at, key]));
}

const identity = ['apiVersion', 'kind', 'metadata namespace', 'metadata name', 'metadata uid'];

test('GO-01 the ignored fields of each kind are exactly what an enrolment writes on it', () => {
  for (const row of workloadRows) {
    const { apiVersion, kind } = row.watch.kind;
    const object = { apiVersion, kind, metadata: { namespace: 'team1', name: 'weather', uid: 'u' } };
    const { body } = enrolment(workloadOf(row, object), { type: 'agent', configHash: 'f'.repeat(64), managedBy: true });
    const written = leaves(body)
      .map((path) => path.join(' '))
      .filter((path) => !identity.includes(path));
    const ignored = operatorFields.find((each) => each.kind === row.kind)?.paths ?? [];
    assert.deepEqual(ignored.map((path) => path.join(' ')).sort(), written.sort(), row.kind);
  }
  assert.equal(operatorFields.length, workloadRows.length);
});

test('GO-01 rules are for the kinds that somebody enrols: none for the operator’s own Deployment', () => {
  assert.deepEqual(operatorFieldsOn(platform), []);
  assert.deepEqual(
    operatorFieldsOn(agents()).map(({ kind }) => kind),
    ['Deployment'],
  );
  const jobs = ['Job', 'CronJob'].map((kind) => ({ apiVersion: 'batch/v1', kind, metadata: { name: 'a' } }));
  assert.deepEqual(
    operatorFieldsOn(jobs).map(({ kind }) => kind),
    ['Job', 'CronJob'],
  );
  assert.deepEqual(operatorFieldsOn([{ apiVersion: 'batch.example/v1', kind: 'Job', metadata: { name: 'a' } }]), []);
});

test('an agent is applied together with its AgentRuntime, also in one tree with the operator', () => {
  const groups = groupsOf([...platform, ...agents()]);
  assert.deepEqual(groups.at(-1)?.kinds, ['AgentCard', 'AgentRuntime', 'Deployment']);
  assert.ok(groups.find(({ name }) => name === '40-operator')?.kinds.includes('Deployment'));
});

test('the page on GitOps shows the rules as they are generated', () => {
  const page = readFileSync(path.resolve(import.meta.dirname, '../../docs/gitops.md'), 'utf8');
  const shown = parse(/```yaml\n(ignoreDifferences:[\s\S]+?)```/.exec(page)?.[1] ?? '') as Rules;
  const enrolled = ['apps/v1 Deployment', 'batch/v1 CronJob']
    .map((each) => each.split(' '))
    .map(([apiVersion = '', kind = '']) => ({ apiVersion, kind, metadata: { name: 'weather' } }));
  const { spec } = parse(filesOf(enrolled).get('argocd/application.yaml') ?? '') as { readonly spec: Rules };
  assert.deepEqual(spec.ignoreDifferences, shown.ignoreDifferences);
});

interface Rules {
  readonly ignoreDifferences: readonly object[];
}

test('Flux never takes away namespaces and definitions, all else it does when it leaves Git', () => {
  const files = filesOf(platform);
  const steps = [...files].filter(([path]) => /^flux\/\d/.test(path)).map(([, text]) => parse(text) as FluxStep);
  assert.deepEqual(
    steps.filter(({ spec }) => !spec.prune).map(({ metadata }) => metadata.name),
    ['rossoctl-dev-00-namespaces'],
  );
  for (const { kind, metadata } of platform.filter((each) => each.kind === 'CustomResourceDefinition')) {
    assert.equal(metadata.annotations?.['kustomize.toolkit.fluxcd.io/prune'], 'disabled', `${kind} ${metadata.name}`);
  }
});

test('nothing that is generated names a value that the operator sets', () => {
  const set = `${labels.type}: `;
  assert.deepEqual(
    [...filesOf(agents())].filter(([, text]) => text.includes(set)),
    [],
  );
});

const references: readonly (readonly [revision: string, ref: object])[] = [
  ['release-1', { branch: 'release-1' }],
  ['team/a+b', { branch: 'team/a+b' }],
  ['refs/tags/v1.0.0', { name: 'refs/tags/v1.0.0' }],
  ['0123456789'.repeat(4), { commit: '0123456789'.repeat(4) }],
];
for (const [revision, ref] of references) {
  test(`revision ${revision} reaches Flux as ${Object.keys(ref).join()} and Argo CD as it is`, () => {
    const files = filesOf(platform, { revision, secret: 'ops' });
    const { spec } = parse(files.get('flux/repository.yaml') ?? '') as { readonly spec: object };
    const url = 'https://git.example/ops.git';
    assert.deepEqual(spec, { interval: '5m', url, ref, secretRef: { name: 'ops' } });
    const application = parse(files.get('argocd/application.yaml') ?? '') as Application;
    assert.equal(application.spec.source.targetRevision, revision);
  });
}

test('a path is the same however it is written, and . is the root', () => {
  for (const [path, expected] of [
    ['./clusters/dev/', './clusters/dev/manifests/10-crds'],
    ['.', './manifests/10-crds'],
    ['./', './manifests/10-crds'],
  ] as const) {
    assert.match(filesOf(platform, { path }).get('flux/10-crds.yaml') ?? '', new RegExp(`path: ${expected}\n`));
  }
});

test('without --gitops nothing is asked for; one tool may be named twice', () => {
  assert.equal(gitOpsOf('dev', {}), undefined);
  assert.equal(gitOpsOf('dev', { ...flags, gitops: ['flux', 'flux'] })?.writers.length, 1);
  assert.ok(gitOpsOf('dev', { ...flags, gitops: ['argocd'], repo: 'git@git.example:ops.git' }));
  assert.ok(gitOpsOf('dev', { ...flags, repo: 'ssh://git@git.example/ops.git' }));
});

const refusals: readonly (readonly [wrong: GitOpsFlags, says: RegExp])[] = [
  [{ gitops: ['fluxcd'] }, /--gitops "fluxcd": did you mean flux\?/],
  [{ gitops: ['spinnaker'] }, /there are argocd and flux/],
  [{ gitops: ['constructor'] }, /there are argocd and flux/],
  [{ gitops: [] }, /--repo does nothing without --gitops argocd\|flux/],
  [{ gitops: undefined, repo: undefined, path: undefined, revision: 'x' }, /--revision does nothing/],
  [{ repo: undefined }, /needs --repo/],
  [{ path: undefined }, /needs --path/],
  [{ repo: 'ops.git' }, /--repo "ops\.git" must be a URL/],
  [{ repo: 'git@git.example:ops.git' }, /must be a URL for Flux: .*ssh:\/\/git@HOST\/NAME/],
  [{ gitops: ['argocd'], repo: 'ftp://git.example/ops' }, /must be the URL of a Git repository/],
  [
    { repo: 'https://me:secret@git.example/ops.git' },
    /^--repo holds a password or token, and would be committed: [^@]*$/,
  ],
  [{ repo: 'https://token@git.example/ops.git' }, /^--repo holds a password or token/],
  [{ revision: '' }, /--revision "" must be a branch/],
  [{ revision: 'a b' }, /--revision "a b" must be a branch/],
  [{ revision: '--path' }, /--revision "--path" must be a branch/],
  [{ revision: 'a..b' }, /must be a branch/],
  [{ path: '/' }, /must be a folder inside/],
  [{ path: 'clusters//dev' }, /must be a folder inside/],
  [{ path: '/clusters' }, /--path "\/clusters" must be a folder inside the repository/],
  [{ path: '../dev' }, /must be a folder inside/],
  [{ path: 'clusters/../..' }, /must be a folder inside/],
  [{ path: '' }, /must be a folder inside/],
  [{ gitops: ['argocd'], secret: 'ops' }, /--secret is for --gitops flux/],
  [{ secret: 'Ops' }, /--secret "Ops" must be the name of a Secret/],
];
for (const [wrong, says] of refusals) {
  test(`refused: ${JSON.stringify(wrong)}`, () => {
    assert.throws(
      () => gitOpsOf('dev', { ...flags, ...wrong }),
      (error) => error instanceof UsageError && says.test(error.message),
    );
  });
}
