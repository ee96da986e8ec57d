/** What Argo CD and Flux do with what `synth --gitops` writes, on a real API server and with the kustomize that both are built on. */

import assert from 'node:assert/strict';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { fieldManagers } from '../../runtime/api/names.ts';
import type { KubeObject } from '../../runtime/engine/types.ts';
import { enrolment } from '../../runtime/workload/fragment.ts';
import { rowOf } from '../../runtime/workload/kinds.ts';
import { workloadOf } from '../../runtime/workload/workload.ts';
import { gitOpsFiles } from '../../stacks/gitops/files.ts';
import { gitOpsOf } from '../../stacks/gitops/flags.ts';
import { operatorFields } from '../../stacks/gitops/operator-fields.ts';
import { type Manifest, manifestsOf } from '../../stacks/tree.ts';
import { writeTree } from '../../stacks/write-tree.ts';
import { type ControlPlane, startControlPlane } from '../lab/control-plane.ts';
import { appOf } from '../support/environments.ts';
import { type Answer, type Json, type Kube, kubeOf } from './kube.ts';
import { kubectl } from './kubectl.ts';
import { makeNamespace, operator } from './policy-bed.ts';
import { workloadKinds } from './workloads.ts';
import { urlOf } from './writers.ts';

const flags = { gitops: ['argocd', 'flux'], repo: 'https://git.example/ops.git', path: 'clusters/dev' };
const work = mkdtempSync(path.join(tmpdir(), 'rossoctl-gitops-'));
const platform = manifestsOf(appOf('dev'));
const agents = manifestsOf(appOf('dev-team1'));

/** Writes what `synth --gitops` writes. */
function written(name: string, manifests: readonly Manifest[]): string {
  const wanted = gitOpsOf('dev', flags);
  assert.ok(wanted !== undefined);
  const dir = path.join(work, name);
  writeTree(dir, gitOpsFiles(manifests, wanted));
  return dir;
}

let plane: ControlPlane;
let kube: Kube;
before(async () => {
  plane = await startControlPlane({ name: 'gitops' });
  kube = kubeOf(plane);
  // Presupposed by the environment: SPIRE's.
  await makeNamespace(kube, 'spire');
});
after(async () => {
  await kube.close();
  await plane.stop();
  rmSync(work, { recursive: true, force: true });
});

const textOf = (file: string) => readFileSync(file, 'utf8');
const key = ({ kind, metadata }: Manifest) => `${kind} ${metadata.namespace ?? ''} ${metadata.name}`;

/** Argo CD adds the Application's patches to the Kustomization of its path, and builds that. */
async function builtByArgoCd(dir: string): Promise<readonly Manifest[]> {
  const { spec } = parse(textOf(path.join(dir, 'argocd/application.yaml'))) as {
    readonly spec: { readonly source: { readonly kustomize: object } };
  };
  const copy = `${dir}-argocd`;
  cpSync(path.join(dir, 'manifests'), copy, { recursive: true });
  const file = path.join(copy, 'Kustomization');
  writeFileSync(file, stringify({ ...(parse(textOf(file)) as object), ...spec.source.kustomize }));
  const { code, stdout, stderr } = await kubectl(plane, ['kustomize', copy]);
  assert.equal(code, 0, stderr);
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
}

const ofArgoCd = 'argocd.argoproj.io/';
function withoutArgoCd({ metadata, ...rest }: Manifest): Manifest {
  const { annotations = {}, ...others } = metadata;
  const kept = Object.entries(annotations).filter(([name]) => !name.startsWith(ofArgoCd));
  return { ...rest, metadata: { ...others, ...(kept.length === 0 ? {} : { annotations: Object.fromEntries(kept) }) } };
}

for (const [name, manifests] of [
  ['platform', platform],
  ['agents', agents],
  ['both', [...platform, ...agents]],
] as const) {
  test(`Argo CD builds ${name}: the objects of the tree, each in the wave of its folder`, async () => {
    const dir = written(name, manifests);
    const folders = new Map(
      globSync('manifests/*/*/*.yaml', { cwd: dir }).map((file) => [
        key(parse(textOf(path.join(dir, file))) as Manifest),
        file.split('/')[1] ?? '',
      ]),
    );
    const built = await builtByArgoCd(dir);
    assert.deepEqual(built.map(key).sort(), manifests.map(key).sort());
    for (const each of manifests) {
      const same = built.find((other) => key(other) === key(each));
      assert.deepEqual(same && withoutArgoCd(same), JSON.parse(JSON.stringify(withoutArgoCd(each))), key(each));
    }
    for (const each of built) {
      const { annotations = {} } = each.metadata;
      const folder = folders.get(key(each)) ?? '';
      assert.equal(annotations[`${ofArgoCd}sync-wave`], String(Number(folder.slice(0, 2))), key(each));
      const isKept = ['Namespace', 'CustomResourceDefinition'].includes(each.kind);
      assert.equal(annotations[`${ofArgoCd}sync-options`], isKept ? 'Prune=false,Delete=false' : undefined);
    }
  });
}

interface FluxStep {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly path: string; readonly dependsOn?: readonly { readonly name: string }[] };
}

/** Applies the paths of a tree's Kustomizations in their order, each once those it depends on are `done`. */
async function applyAsFlux(dir: string, steps: readonly string[], done: Set<string>, ...how: readonly string[]) {
  for (const step of steps) {
    const { metadata, spec } = parse(textOf(path.join(dir, step))) as FluxStep;
    assert.ok(
      (spec.dependsOn ?? []).every(({ name }) => done.has(name)),
      step,
    );
    const folder = path.join(dir, path.relative('clusters/dev', spec.path));
    const ran = await kubectl(plane, [...apply('kustomize-controller'), ...how, '--validate=strict', '-k', folder]);
    assert.equal(ran.code, 0, `${step}: ${ran.stderr}`);
    done.add(metadata.name);
  }
}

test('Flux: each Kustomization’s path builds and applies once those it depends on are there, agents after their platform', async () => {
  const [ofPlatform, ofAgents] = [written('flux-platform', platform), written('flux-agents', agents)];
  const stepsOf = (dir: string) => globSync('flux/[0-9]*.yaml', { cwd: dir }).sort();
  const steps = stepsOf(ofPlatform);
  const done = new Set<string>();
  // Agents before the webhooks: no operator runs here that would answer them.
  await applyAsFlux(ofPlatform, steps.slice(0, -1), done);
  await applyAsFlux(ofAgents, stepsOf(ofAgents), new Set(), '--dry-run=server');
  await applyAsFlux(ofPlatform, steps.slice(-1), done);
  assert.equal(done.size, 8);
});

const apply = (manager: string) => ['apply', '--server-side', '--force-conflicts', `--field-manager=${manager}`];

test('the objects that configure Argo CD itself are accepted as a dry run', async () => {
  const file = path.join(written('settings', platform), 'argocd/argocd-cm.yaml');
  await makeNamespace(kube, 'argocd');
  const ran = await kubectl(plane, ['apply', '--server-side', '--dry-run=server', '--validate=strict', '-f', file]);
  assert.equal(ran.code, 0, ran.stderr);
});

const argoCd = 'argocd-controller';
const applyPatch = 'application/apply-patch+yaml';
const sideways = (url: string, manager: string, body: object, query = '') =>
  kube.request('PATCH', `${url}?fieldManager=${manager}&force=true${query}`, body, {
    contentType: applyPatch,
    ...(manager === argoCd ? {} : { who: operator }),
  });

/** `f:metadata` … of the field manager's own, as paths. */
function owned({ body }: Answer, manager: string): readonly string[] {
  const { managedFields } = (body as unknown as KubeObject & { readonly metadata: ManagedFields }).metadata;
  const fields = managedFields.find((each) => each.manager === manager)?.fieldsV1 ?? {};
  const walk = (value: object, at: string): readonly string[] => {
    const below = Object.entries(value).filter(([name]) => name !== '.');
    return below.length === 0
      ? [at]
      : below.flatMap(([name, child]) => walk(child as object, `${at} ${name.slice(2)}`));
  };
  return walk(fields, '')
    .map((each) => each.trim())
    .sort();
}
interface ManagedFields {
  readonly managedFields: readonly { readonly manager: string; readonly fieldsV1: object }[];
}

for (const workload of workloadKinds.filter(({ kind }) => operatorFields.some((each) => each.kind === kind))) {
  test(`GO-01 ${workload.kind}: what the operator owns is what is ignored, and what Git holds does not touch it`, async () => {
    const inGit = workload.make('weather') as Json & { readonly apiVersion: string; readonly kind: string };
    const url = `${urlOf(workload, 'team1')}/weather`;
    const applied = await sideways(url, argoCd, inGit);
    assert.equal(applied.code, 201, applied.message);
    const row = rowOf(inGit);
    assert.ok(row !== undefined);
    const target = workloadOf(row, applied.body as unknown as KubeObject);
    const { body } = enrolment(target, { type: 'agent', configHash: 'f'.repeat(64), managedBy: true });
    const enrolled = await sideways(url, fieldManagers.agentRuntime, body);
    assert.equal(enrolled.code, 200, enrolled.message);
    const ignored = operatorFields.find(({ kind }) => kind === workload.kind)?.paths ?? [];
    assert.deepEqual(owned(enrolled, fieldManagers.agentRuntime), ignored.map((each) => each.join(' ')).sort());
    const compared = await sideways(url, argoCd, inGit, '&dryRun=All');
    assert.deepEqual(compared.body['spec'], enrolled.body['spec']);
    assert.deepEqual(owned(compared, fieldManagers.agentRuntime), owned(enrolled, fieldManagers.agentRuntime));
    assert.equal(
      owned(compared, argoCd).some((each) => ignored.map((one) => one.join(' ')).includes(each)),
      false,
    );
  });
}

test('caBundle, which no manifest holds, survives that the registration is applied again', async () => {
  const url = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/rossoctl-injector';
  const certificate = Buffer.from(textOf(path.join(plane.certificatesDir, 'ca.crt'))).toString('base64');
  const patch = [{ op: 'add', path: '/webhooks/0/clientConfig/caBundle', value: certificate }];
  const contentType = 'application/json-patch+json';
  const published = await kube.request('PATCH', url, patch, { contentType, who: operator });
  assert.equal(published.code, 200, published.message);
  const inGit = platform.find(({ kind }) => kind === 'MutatingWebhookConfiguration');
  assert.ok(inGit !== undefined);
  const applied = await sideways(url, argoCd, inGit);
  assert.equal(applied.code, 200, applied.message);
  assert.deepEqual(applied.body['webhooks'], published.body['webhooks']);
});
