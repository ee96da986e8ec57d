/** Where a label that only the operator may set can stand, and on which resources: the tables behind the label policies. */

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

/** Resources of one group, with every subresource through which a label can come in. */
export interface ProtectedResources {
  readonly apiGroup: string;
  readonly resources: readonly string[];
}

const withStatus = (resources: readonly string[]) => resources.flatMap((resource) => [resource, `${resource}/status`]);

/**
 * Every resource that makes pods from a template: what an AgentRuntime can target, and what could be used to get around that.
 * Also through their `status`: some of them take metadata from a write to it.
 */
export const workloadResources: readonly ProtectedResources[] = [
  { apiGroup: 'apps', resources: withStatus(['deployments', 'statefulsets', 'daemonsets', 'replicasets']) },
  { apiGroup: 'batch', resources: withStatus(['jobs', 'cronjobs']) },
  { apiGroup: '', resources: withStatus(['replicationcontrollers']) },
];

/**
 * Pods themselves. A binding counts: newer API servers copy labels of it onto the pod. The other subresources drop labels
 * (test/policy-cluster/signature-protection.test.ts).
 */
export const podResources: ProtectedResources = {
  apiGroup: '',
  resources: ['pods', 'pods/status', 'pods/binding', 'bindings'],
};
