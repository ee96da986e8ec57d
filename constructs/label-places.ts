/** Where `rossoctl.io/type` can stand, and on which resources: the tables behind the label policy. */

/** One place in an object that can hold the label. */
export interface LabelPlace {
  /** Name of the policy's variable. */
  readonly id: string;
  /** For people: "pod template". */
  readonly where: string;
  /** Path of the label map. */
  readonly path: readonly string[];
}

/** Every place, for every protected kind; an object has some of them. */
export const labelPlaces: readonly LabelPlace[] = [
  { id: 'own', where: 'metadata', path: ['metadata', 'labels'] },
  { id: 'template', where: 'pod template', path: ['spec', 'template', 'metadata', 'labels'] },
  { id: 'job', where: 'job template', path: ['spec', 'jobTemplate', 'metadata', 'labels'] },
  {
    id: 'jobPod',
    where: "job template's pod template",
    path: ['spec', 'jobTemplate', 'spec', 'template', 'metadata', 'labels'],
  },
];

/**
 * Every resource that makes pods from a template: what an AgentRuntime can target, and what could be used to get around that.
 * Also through their `status`: some of them take metadata from a write to it.
 */
export const protectedResources: readonly { readonly apiGroup: string; readonly resources: readonly string[] }[] = [
  { apiGroup: 'apps', resources: ['deployments', 'statefulsets', 'daemonsets', 'replicasets'] },
  { apiGroup: 'batch', resources: ['jobs', 'cronjobs'] },
  { apiGroup: '', resources: ['replicationcontrollers'] },
];
