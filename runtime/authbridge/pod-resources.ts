/** Pod-level resources bound all containers of a pod together: raised by what the injected ones ask for, so that the owner's keep theirs. */

import type { Container, ResourceRequirements } from '../api/kubernetes.ts';
import { quantity } from '../config/quantity.ts';

/** A resource that the pod does not bound stays unbounded, and what is no quantity stays as it is: the API server says so. */
export function raised(pod: ResourceRequirements, added: readonly Container[]): ResourceRequirements {
  const asked = added.map(({ resources = {} }) => resources);
  const { requests, limits } = pod;
  return {
    ...pod,
    ...(requests === undefined
      ? {}
      : { requests: withSums(requests, (name) => asked.map((one) => one.requests?.[name])) }),
    ...(limits === undefined
      ? {}
      : { limits: withSums(limits, (name) => asked.map((one) => one.limits?.[name] ?? one.requests?.[name])) }),
  };
}

type Quantities = Readonly<Record<string, string>>;

function withSums(bounds: Quantities, of: (name: string) => readonly (string | undefined)[]): Quantities {
  return Object.fromEntries(
    Object.entries(bounds).map(([name, bound]) => {
      const more = of(name).reduce((sum, text) => sum + (quantity(text ?? '0') ?? 0), 0);
      const own = quantity(bound);
      return [name, own === undefined || more === 0 ? bound : written(name, own + more)];
    }),
  );
}

/** Rounded up to what is counted: a thousandth of a core, a byte. The smallest share more is an error of the sum. */
function written(name: string, value: number): string {
  const up = (number: number): number => Math.ceil(number - 1e-6);
  return name === 'cpu' ? `${up(value * 1000)}m` : String(up(value));
}
