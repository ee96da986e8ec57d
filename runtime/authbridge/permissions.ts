/** What the API server must allow the injection webhook, and why. */

import { apiGroup } from '../api/names.ts';
import type { Permission } from '../engine/types.ts';

/** Reads alone: the webhook never writes. ConfigMaps are granted beside the configuration's watches. */
export const authBridgePermissions: readonly Permission[] = Object.freeze([
  {
    apiGroup,
    resources: ['agentruntimes'],
    verbs: ['get', 'list', 'watch'],
    scope: 'watched',
    why: 'The webhook looks up the AgentRuntime of a new pod, and confirms by one list that there is none.',
  },
  {
    apiGroup: 'apps',
    resources: ['replicasets'],
    verbs: ['get', 'list', 'watch'],
    scope: 'watched',
    why: 'The Deployment of a new pod is found through its ReplicaSet.',
  },
  {
    apiGroup: 'apps',
    resources: ['controllerrevisions', 'daemonsets'],
    verbs: ['get'],
    scope: 'watched',
    why: 'Whether a new pod has injected containers from its template, which its owner wrote.',
  },
  {
    apiGroup: 'batch',
    resources: ['jobs'],
    verbs: ['get'],
    scope: 'watched',
    why: 'The CronJob of a new pod is found through its Job.',
  },
  {
    apiGroup: '',
    resources: ['namespaces'],
    verbs: ['get', 'list', 'watch'],
    scope: 'cluster',
    why: 'The Pod Security level of a namespace decides whether proxy-init can be admitted.',
  },
  {
    apiGroup: 'storage.k8s.io',
    resources: ['csidrivers'],
    verbs: ['list', 'watch'],
    scope: 'cluster',
    why: 'Without the SPIFFE CSI driver a pod with a SPIFFE volume would wait for ever.',
  },
]);
