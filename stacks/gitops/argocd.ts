/** What Argo CD needs beside a tree: an Application with the order of its objects, and the health of ours. */

import { Yaml } from 'cdk8s';
import { type Group, groupsOf, type Manifest, notOperatorSelector, type TreeFile } from '../tree.ts';
import { luaChecks } from './health.ts';
import { operatorFieldsOn } from './operator-fields.ts';
import { type GitOps, keptKinds, nameOf, treePath } from './target.ts';

/**
 * `application.yaml`, and with the definitions of our kinds `argocd-cm.yaml`: their health, once for an Argo CD. The order is given as patches in the Application and not in the manifests, so that all outputs
 * hold the same objects. Without `RespectIgnoreDifferences`: with it Argo CD copies the operator's fields from the live object into what it
 * applies, becomes their owner too, and would write back values that are no longer true.
 */
export function argoCdFiles(manifests: readonly Manifest[], gitOps: GitOps): readonly TreeFile[] {
  const ignored = operatorFieldsOn(manifests).map(({ group, kind, paths }) => ({
    group,
    kind,
    jqPathExpressions: paths.map(jqPath),
  }));
  const application = {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: {
      name: nameOf(gitOps),
      namespace: 'argocd',
      annotations: { 'argocd.argoproj.io/compare-options': 'ServerSideDiff=true' },
    },
    spec: {
      project: 'default',
      source: {
        repoURL: gitOps.repo,
        targetRevision: gitOps.revision,
        path: treePath(gitOps),
        kustomize: { patches: groupsOf(manifests).map(patch) },
      },
      destination: { server: 'https://kubernetes.default.svc' },
      ...(ignored.length === 0 ? {} : { ignoreDifferences: ignored }),
      syncPolicy: {
        automated: { prune: true, selfHeal: true },
        syncOptions: ['ServerSideApply=true', 'CreateNamespace=false'],
        // For half an hour: agents may be committed together with the platform that they wait for.
        retry: { limit: 10, backoff: { duration: '10s', factor: 2, maxDuration: '5m' } },
      },
    },
  };
  const definesKinds = manifests.some(({ kind }) => kind === 'CustomResourceDefinition');
  return [
    { path: 'argocd/application.yaml', text: Yaml.stringify(application) },
    ...(definesKinds ? [{ path: 'argocd/argocd-cm.yaml', text: Yaml.stringify(healthSettings()) }] : []),
  ];
}

/** Keys of Argo CD's own ConfigMap; applied server-side they join what is there. */
function healthSettings() {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    // Argo CD finds its ConfigMap by this label.
    metadata: { name: 'argocd-cm', namespace: 'argocd', labels: { 'app.kubernetes.io/part-of': 'argocd' } },
    data: luaChecks(),
  };
}

/** A path as jq writes it: names that are more than a word in quotes. */
function jqPath(path: readonly string[]): string {
  return path.map((step) => `.${/^\w+$/.test(step) ? step : JSON.stringify(step)}`).join('');
}

/** Puts the objects of a group in their wave. What must outlive the Application is neither pruned nor deleted with it. */
function patch({ order, isOther, kinds }: Group) {
  const annotations = {
    'argocd.argoproj.io/sync-wave': String(order),
    ...(kinds.some((kind) => keptKinds.includes(kind))
      ? { 'argocd.argoproj.io/sync-options': 'Prune=false,Delete=false' }
      : {}),
  };
  // The target decides what is patched; kustomize wants the patch itself to name something all the same.
  const body = { apiVersion: 'v1', kind: 'Any', metadata: { name: 'any', annotations } };
  // The last group shares a kind with the operator's, and its patch is the last.
  const target = { kind: kinds.join('|'), ...(isOther ? { labelSelector: notOperatorSelector } : {}) };
  return { target, patch: Yaml.stringify(body) };
}
