/** Parsers that remember: each version of a text is parsed once, and the last good layer of each object is kept. */

import type { Consistent } from './consistent.ts';
import type { FeatureGates } from './feature-gates.ts';
import type { Layer, LayerProblem } from './layers.ts';
import { parsers, type Parsers } from './layers-of.ts';
import type { PartialConfig } from './platform.ts';
import { isProblem } from './sources.ts';
import type { Text } from './text.ts';

export interface Remembered {
  /** The truth of now. */
  readonly current: Parsers;
  /** A problem gives way to the last good layer of the same object, if there was one in this process. */
  readonly lastGood: Parsers;
  /** Grows whenever a last good layer changes: what was derived from `lastGood` before is out of date. */
  goodCount(): number;
}

interface Memory<V> {
  readonly version: string;
  readonly now: Layer<V> | LayerProblem;
  readonly good: Layer<V> | undefined;
}

/** Bounded, each sort, to `limit` objects or namespaces; the one seen longest ago is forgotten first. */
export function rememberedParsers(limit: number): Remembered {
  let count = 0;
  const changed = () => {
    count += 1;
  };
  const config = memory<PartialConfig>((text) => parsers.config(text), limit, changed);
  const gates = memory<Partial<FeatureGates>>((text) => parsers.gates(text), limit, changed);
  const together = togetherMemory(limit);
  return {
    current: {
      config: (text) => config(text).now,
      gates: (text) => gates(text).now,
      together: (namespace, layers) => together(namespace, layers).now,
    },
    lastGood: {
      config: (text) => usable(config(text)),
      gates: (text) => usable(gates(text)),
      together: (namespace, layers) => together(namespace, layers).good,
    },
    goodCount: () => count,
  };
}

function usable<V>({ now, good }: Memory<V>): Layer<V> | LayerProblem {
  return isProblem(now) && good !== undefined ? good : now;
}

function memory<V>(parse: (text: Text) => Layer<V> | LayerProblem, limit: number, changed: () => void) {
  const entries = new Map<string, Memory<V>>();
  return (text: Text): Memory<V> => {
    // One ConfigMap can be two layers (platform and, labelled, its own namespace's defaults), which are judged differently.
    const key = `${text.source.layer}|${text.id}`;
    const known = entries.get(key);
    if (known?.version === text.version) return known;
    const now = parse(text);
    const entry = { version: text.version, now, good: isProblem(now) ? known?.good : now };
    if (entry.good !== known?.good) changed();
    entries.delete(key);
    entries.set(key, entry);
    bound(entries, limit);
    return entry;
  };
}

/** The layers that last agreed with each other stand in for those that contradict each other, as long as they come from the same places. */
function togetherMemory(limit: number) {
  const agreed = new Map<string, Consistent>();
  return (namespace: string, layers: readonly Layer<PartialConfig>[]): { now: Consistent; good: Consistent } => {
    const now = parsers.together(namespace, layers);
    if (now.problems.length === 0) {
      agreed.delete(namespace);
      agreed.set(namespace, now);
      bound(agreed, limit);
      return { now, good: now };
    }
    const known = agreed.get(namespace);
    return { now, good: known !== undefined && places(known.config) === places(layers) ? known : now };
  };
}

function places(layers: readonly Layer<PartialConfig>[]): string {
  return layers.map(({ source }) => source.where).join('\n');
}

function bound(entries: Map<string, unknown>, limit: number): void {
  const [oldest] = entries.keys();
  if (entries.size > limit && oldest !== undefined) entries.delete(oldest);
}
