/** What Flux needs beside a tree: the repository, and a Kustomization for each group, one after the other. */

import { Yaml } from 'cdk8s';
import { groupsOf, type Group, type Manifest, type TreeFile } from '../tree.ts';
import { celChecks } from './health.ts';
import { type GitOps, keptKinds, nameOf, treePath } from './target.ts';

const namespace = 'flux-system';

/**
 * `repository.yaml` and one file a group. Flux applies only what is in Git and compares by what it would change, so the operator's fields
 * need no rule. Nothing is deleted with a Kustomization: Flux would delete all groups at once, the operator before what it has to let go of.
 */
export function fluxFiles(manifests: readonly Manifest[], gitOps: GitOps): readonly TreeFile[] {
  const groups = groupsOf(manifests);
  return [
    { path: 'flux/repository.yaml', text: Yaml.stringify(repository(gitOps)) },
    ...groups.map((group, index) => ({
      path: `flux/${group.name}.yaml`,
      text: Yaml.stringify(kustomization(gitOps, group, groups[index - 1])),
    })),
  ];
}

function repository(gitOps: GitOps) {
  return {
    apiVersion: 'source.toolkit.fluxcd.io/v1',
    kind: 'GitRepository',
    metadata: { name: nameOf(gitOps), namespace },
    spec: {
      interval: '5m',
      url: gitOps.repo,
      ref: reference(gitOps.revision),
      ...(gitOps.secret === undefined ? {} : { secretRef: { name: gitOps.secret } }),
    },
  };
}

function reference(revision: string) {
  if (revision.startsWith('refs/')) return { name: revision };
  return /^[0-9a-f]{40}$/.test(revision) ? { commit: revision } : { branch: revision };
}

function kustomization(gitOps: GitOps, { name, kinds }: Group, before: Group | undefined) {
  const healthCheckExprs = celChecks(kinds);
  return {
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata: { name: `${nameOf(gitOps)}-${name}`, namespace },
    spec: {
      ...(before === undefined ? {} : { dependsOn: [{ name: `${nameOf(gitOps)}-${before.name}` }] }),
      sourceRef: { kind: 'GitRepository', name: nameOf(gitOps) },
      path: `./${treePath(gitOps)}/${name}`,
      interval: '10m',
      retryInterval: '1m',
      timeout: '5m',
      prune: !kinds.some((kind) => keptKinds.includes(kind)),
      deletionPolicy: 'Orphan',
      wait: true,
      ...(healthCheckExprs.length === 0 ? {} : { healthCheckExprs }),
    },
  };
}
