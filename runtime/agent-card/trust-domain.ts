/** The trust domain whose identities may sign: as the operator was told, else as the platform configuration says. */

import type { Layers } from '../config/layers.ts';
import { mergeLayers } from '../config/merge.ts';
import type { LayerReader } from '../config/read.ts';
import type { Reader } from '../engine/types.ts';
import type { TrustDomain } from './binding.ts';

/** `name`, when not empty, is the answer for every namespace. A layer that cannot be read leaves the last one that could. */
export function createTrustDomains(
  name: string,
  layers: LayerReader,
): (reader: Reader, namespace: string) => TrustDomain {
  if (name !== '') return () => ({ name });
  const known = new WeakMap<Layers, TrustDomain>();
  return (reader, namespace) => {
    const good = layers.lastGood(reader, namespace);
    const domain = known.get(good) ?? domainOf(good);
    known.set(good, domain);
    return domain;
  };
}

function domainOf(layers: Layers): TrustDomain {
  const [problem] = layers.problems;
  return problem === undefined ? { name: mergeLayers(layers).config.spiffe.trustDomain } : { unknown: problem.message };
}
