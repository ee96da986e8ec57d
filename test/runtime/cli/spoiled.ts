/** Objects with one field replaced, and a Pod under review. */

export type Path = readonly (string | number)[];

export function replaced(value: unknown, [step, ...rest]: Path, by: unknown): unknown {
  if (step === undefined) return by;
  const copy = structuredClone((typeof value === 'object' ? value : null) ?? {});
  return Object.assign(copy, { [step]: replaced((copy as Record<string, unknown>)[step], rest, by) });
}

export function pathsOf(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, each]) => pathsOf(each, [...path, key]))];
}

export const review = (object: unknown) => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: {
    uid: 'u',
    kind: { group: '', version: 'v1', kind: 'Pod' },
    operation: 'CREATE',
    namespace: 'team1',
    object,
    userInfo: { username: 'x' },
  },
});
