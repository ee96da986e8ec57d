/** Installs the CustomResourceDefinitions. */

import { Construct } from 'constructs';
import { crdManifest, crdSources } from '../runtime/api/crds.ts';
import { platformObject } from './platform-objects.ts';
import { refuse } from './refusal.ts';

export { crdManifest, type CrdSource, crdSources } from '../runtime/api/crds.ts';

/**
 * A CustomResourceDefinition that goes takes every object of its kind with it. GitOps tools therefore leave it when it is no longer in what
 * they apply, or when the application is deleted: only a person deletes it (field report UP-03).
 */
const kept = {
  'argocd.argoproj.io/sync-options': 'Prune=false,Delete=false',
  'kustomize.toolkit.fluxcd.io/prune': 'disabled',
} as const;

/** Installs every CustomResourceDefinition of the platform. */
export class CustomResourceDefinitions extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    refuse(this, []);
    for (const source of crdSources) {
      const { apiVersion, kind, metadata, spec } = crdManifest(source);
      const object = { apiVersion, kind, name: metadata.name, component: 'crds', annotations: kept, content: { spec } };
      platformObject(this, source.facts.plural, object);
    }
  }
}
