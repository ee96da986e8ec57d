/** What a piece of app synthesizes to: every object, or the sentence it is refused with. */

import { App, Chart, type ChartProps } from 'cdk8s';
import type { Construct } from 'constructs';
import { AgentPlatform, type AgentPlatformProps } from '../../constructs/index.ts';

/** An object as JSON, loose enough to assert on any kind. */
export interface Synthesized {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // oxlint-disable-next-line typescript/no-explicit-any -- assertions reach into objects of every kind
  readonly [field: string]: any;
}

/** Objects of a chart that `build` fills. Throws what the constructs' validations say. */
export function synthesized(
  build: (chart: Chart) => void,
  props: ChartProps & { readonly id?: string } = {},
): readonly Synthesized[] {
  const { id = 'test', ...rest } = props;
  const chart = new Chart(new App(), id, { disableResourceNameHashes: true, ...rest });
  build(chart);
  return chart.toJson() as readonly Synthesized[];
}

/** Objects of a platform with an image and the given props. */
export function platform(
  props: Partial<AgentPlatformProps> = {},
  extend: (platform: AgentPlatform, scope: Construct) => void = () => {},
): readonly Synthesized[] {
  return synthesized((chart) =>
    extend(new AgentPlatform(chart, 'rossoctl', { image: 'example.test/rossoctl:1', ...props }), chart),
  );
}

/** The one object of a kind, and of a name where there are several. */
export function one(objects: readonly Synthesized[], kind: string, name?: string): Synthesized {
  const found = objects.filter(
    (object) => object.kind === kind && (name ?? object.metadata.name) === object.metadata.name,
  );
  const [first] = found;
  if (first === undefined || found.length > 1) throw new Error(`${found.length} objects of kind ${kind} ${name ?? ''}`);
  return first;
}
