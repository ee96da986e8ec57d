/** Our own output with one thing changed, for tests of what counts as injected. */

import type { Container, Pod, PodSpec } from '../../../runtime/api/kubernetes.ts';
import { injectedPod, type SnapshotParts } from './fixtures.ts';

/** Our own output with one container changed. */
export const changed = (
  name: string,
  change: object | ((container: Container) => object),
  parts: SnapshotParts = {},
): Pod => {
  const pod = injectedPod(parts);
  const of = (list: readonly Container[] = []) =>
    list.map((each) =>
      each.name === name ? { ...each, ...(typeof change === 'function' ? change(each) : change) } : each,
    );
  return {
    ...pod,
    spec: { ...pod.spec, initContainers: of(pod.spec.initContainers), containers: of(pod.spec.containers) },
  };
};
export const withSpec = (change: (spec: PodSpec) => Partial<PodSpec>, parts: SnapshotParts = {}): Pod => {
  const pod = injectedPod(parts);
  return { ...pod, spec: { ...pod.spec, ...change(pod.spec) } };
};
export const withAnnotation = (name: string, value: string): Pod => {
  const pod = injectedPod();
  return { ...pod, metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, [name]: value } } };
};
export const without =
  (name: string) =>
  (list: readonly Container[] = []) =>
    list.filter((each) => each.name !== name);
export const envWith = (name: string, value: string) => (container: Container) => ({
  env: [...(container.env ?? []).filter((each) => each.name !== name), { name, value }],
});
