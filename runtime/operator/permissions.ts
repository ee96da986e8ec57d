/** What the process itself needs of the API server, beside what its features declare. */

import { crdNames } from '../api/crds.ts';
import { configMaps, install, webhookConfigurationsOf } from '../api/names.ts';
import type { Permission } from '../engine/types.ts';

/** The operator's own Deployment, by its name in this install. */
export function removalPermissions(deploymentName: string): readonly Permission[] {
  return [
    {
      apiGroup: 'apps',
      resources: ['deployments'],
      verbs: ['get'],
      resourceNames: [deploymentName],
      scope: 'own',
      why: 'On its end the operator looks whether its install is being removed, and then lets go of every workload.',
    },
  ];
}

const registrations = {
  apiGroup: 'admissionregistration.k8s.io',
  resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
  scope: 'cluster',
} as const;

/** Lease, events, configuration, and whether the install around the operator fits it. */
export const operatorPermissions: readonly Permission[] = Object.freeze([
  {
    apiGroup: 'coordination.k8s.io',
    resources: ['leases'],
    verbs: ['create'],
    scope: 'own',
    why: 'The first replica creates the Lease by which replicas agree on one writer.',
  },
  {
    apiGroup: 'coordination.k8s.io',
    resources: ['leases'],
    verbs: ['get', 'update'],
    resourceNames: [install.lease],
    scope: 'own',
    why: 'The writer renews the Lease; the others read it to take over.',
  },
  {
    apiGroup: 'events.k8s.io',
    resources: ['events'],
    verbs: ['create', 'patch'],
    scope: 'watched',
    why: 'What happened to a workload is written as an event beside it; repeated ones are counted in one object.',
  },
  {
    apiGroup: '',
    resources: ['configmaps'],
    verbs: ['list', 'watch'],
    resourceNames: [configMaps.platform.name, configMaps.gates.name],
    scope: 'own',
    why: 'Platform configuration and feature gates are ConfigMaps in the operator’s namespace.',
  },
  {
    apiGroup: '',
    resources: ['configmaps'],
    verbs: ['list', 'watch'],
    scope: 'watched',
    why: 'Namespace defaults are ConfigMaps in the agents’ namespaces.',
  },
  {
    apiGroup: 'apiextensions.k8s.io',
    resources: ['customresourcedefinitions'],
    verbs: ['list', 'watch'],
    resourceNames: crdNames,
    scope: 'cluster',
    why: 'What an older CustomResourceDefinition lacks is said: the API server drops it without a word.',
  },
  {
    ...registrations,
    verbs: ['list', 'watch'],
    why: 'A wiped caBundle is noticed, and so is a registration that an older install left under another name, which can refuse pods.',
  },
]);

function ownRegistrations(instance: string | undefined) {
  return { ...registrations, resourceNames: Object.values(webhookConfigurationsOf(instance)) };
}

/** The serving certificate that the operator makes itself, and the webhook configurations of its instance that trust it. */
export const madeCertificatePermissions = (instance: string | undefined): readonly Permission[] => [
  {
    apiGroup: '',
    resources: ['secrets'],
    verbs: ['create'],
    scope: 'own',
    why: 'The Secret of the serving certificate is created by the first replica.',
  },
  {
    apiGroup: '',
    resources: ['secrets'],
    verbs: ['get', 'list', 'watch', 'update'],
    resourceNames: [install.certificateSecret],
    scope: 'own',
    why: 'The serving certificate and its authority live in one Secret, read by every replica and rotated before they expire.',
  },
  {
    ...ownRegistrations(instance),
    verbs: ['get', 'patch'],
    why: 'The authority of the serving certificate is published as caBundle, and restored when it is wiped.',
  },
];

/** A serving certificate that somebody else makes and mounts: only whether the webhook configurations trust it is looked at. */
export const mountedCertificatePermissions = (instance: string | undefined): readonly Permission[] => [
  {
    ...ownRegistrations(instance),
    verbs: ['get'],
    why: 'A new certificate is served only when its authority is published as caBundle.',
  },
];
