/** What the layers explicitly set → the hash that decides whether pods must be replaced. */

import { canonicalJson } from '../encoding/canonical-json.ts';
import { sha256Hex } from '../encoding/digest.ts';
import { type GateName, gateDefaults } from './feature-gates.ts';
import type { Layers } from './layers.ts';
import { overlaid, type Section } from './overlay.ts';
import { compiledDefaults, podNeutral } from './platform.ts';

/** Gates that change no pod of a type: discovery only reports, and whether tools are injected is nothing to an agent. */
const gatesWithoutEffect: Readonly<Record<'agent' | 'tool', readonly GateName[]>> = {
  agent: ['skillDiscovery', 'injectTools'],
  tool: ['skillDiscovery'],
};

/**
 * 64 hex characters: equal exactly when the merged explicit settings that can change a pod of this type are
 * equal. Compiled defaults are not in it, so an operator upgrade restarts nothing; AgentRuntimes are not, so editing one rolls nothing.
 * A value that is explicitly set to its default is in it. Meaningful only for layers without problems: a layer that could not be
 * read is not an empty layer, so with `problems` the old hash must stand.
 */
export function configHash(layers: Layers, type: 'agent' | 'tool'): string {
  const config = without(merged(layers.config), podNeutral);
  const gates = without(merged(layers.gates), gatesWithoutEffect[type]);
  return sha256Hex(canonicalJson({ config, gates }));
}

/** Of the compiled defaults that can change a pod, 16 hex characters: what tells pods of one release's defaults from another's. */
export const defaultsHash: string = sha256Hex(
  canonicalJson({ config: without(compiledDefaults as Section, podNeutral), gates: gateDefaults }),
).slice(0, 16);

function merged(layers: readonly { readonly values: object }[]): Section {
  return layers.reduce<Section>((below, { values }) => overlaid(below, values as Section), {});
}

function without(section: Section, names: readonly string[]): Section {
  return Object.fromEntries(Object.entries(section).filter(([name]) => !names.includes(name)));
}
