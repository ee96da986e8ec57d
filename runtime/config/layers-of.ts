/** ConfigMaps and files → the layers for one namespace. Pure, so that the command line shows what the operator would see. */

import type { ConfigMap } from '../api/kubernetes.ts';
import { configMaps, labels } from '../api/names.ts';
import { type Consistent, consistent } from './consistent.ts';
import type { FeatureGates } from './feature-gates.ts';
import type { Layer, LayerName, LayerProblem, Layers } from './layers.ts';
import type { PartialConfig } from './platform.ts';
import { type Text, textInConfigMap, textInFile } from './text.ts';
import { isProblem, parseConfig, parseGates } from './sources.ts';
import { problemOf } from './problem.ts';

/** A mounted file. `text` is undefined when there is none: a layer that sets nothing. */
export interface FileText {
  readonly text: string | undefined;
  readonly path: string;
}

export interface LayerInputs {
  readonly operatorNamespace: string;
  readonly namespace: string;
  /** Any ConfigMaps of any namespace; those that are no configuration are passed over. */
  readonly configMaps: readonly ConfigMap[];
  readonly configFile?: FileText | undefined;
  readonly gatesFile?: FileText | undefined;
}

/** The objects that make up the layers of one namespace, found but not yet parsed. */
export interface Found {
  readonly namespace: string;
  readonly configFile?: FileText | undefined;
  readonly gatesFile?: FileText | undefined;
  readonly platform?: ConfigMap | undefined;
  readonly gates?: ConfigMap | undefined;
  /** ConfigMaps of the namespace labelled as defaults, in any order. */
  readonly defaults: readonly ConfigMap[];
}

/** How a text becomes a layer: parsed anew, or remembered. */
export interface Parsers {
  config(text: Text): Layer<PartialConfig> | LayerProblem;
  gates(text: Text): Layer<Partial<FeatureGates>> | LayerProblem;
  /** Judges the layers of one namespace together. */
  together(namespace: string, config: readonly Layer<PartialConfig>[]): Consistent;
}

/** Parses anew each time. A ConfigMap without the expected key is a problem: it was meant to say something. */
export const parsers: Parsers = {
  config: (text) => parsed(text, parseConfig),
  gates: (text) => parsed(text, parseGates),
  together: (_, config) => consistent(config),
};

/** The layers of a namespace. Never throws: what cannot be used is in `problems`. */
export function layersOf(inputs: LayerInputs): Layers {
  const { operatorNamespace, namespace, configFile, gatesFile } = inputs;
  const named = (name: string) =>
    inputs.configMaps.find(({ metadata }) => metadata.namespace === operatorNamespace && metadata.name === name);
  const defaults = inputs.configMaps.filter(
    ({ metadata }) => metadata.namespace === namespace && metadata.labels?.[labels.defaults] === 'true',
  );
  const { platform, gates } = configMaps;
  return assembled({
    namespace,
    configFile,
    gatesFile,
    platform: named(platform.name),
    gates: named(gates.name),
    defaults,
  });
}

/** Parses what was found and puts it in the order of precedence. Absent files and ConfigMaps are layers that set nothing. */
export function assembled(found: Found, parse: Parsers = parsers): Layers {
  const defaults = [...found.defaults].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const config = [
    ...fileTexts(found.configFile),
    ...configMapTexts(found.platform, 'platform', configMaps.platform.key),
    ...configMapTexts(defaults[0], 'namespace', configMaps.namespaceDefaults.key),
  ].map((text) => parse.config(text));
  const gates = [...fileTexts(found.gatesFile), ...configMapTexts(found.gates, 'platform', configMaps.gates.key)].map(
    (text) => parse.gates(text),
  );
  const read = config.flatMap((layer) => (isProblem(layer) ? [] : [layer]));
  const agreeing = parse.together(found.namespace, read);
  return Object.freeze({
    config: agreeing.config,
    gates: gates.flatMap((layer) => (isProblem(layer) ? [] : [layer])),
    problems: [
      ...[...config, ...gates].flatMap((layer) => (isProblem<object>(layer) ? [layer] : [])),
      ...agreeing.problems,
    ],
    warnings: ambiguity(found.namespace, defaults.map(nameOf)),
  });
}

function parsed<V>(text: Text, parse: (text: string, source: Text['source']) => Layer<V> | LayerProblem) {
  return 'missing' in text
    ? problemOf(text.source, [{ path: '', message: text.missing }])
    : parse(text.text, text.source);
}

function fileTexts(file: FileText | undefined): readonly Text[] {
  return file?.text === undefined ? [] : [textInFile(file.path, file.text)];
}

function configMapTexts(configMap: ConfigMap | undefined, layer: LayerName, key: string): readonly Text[] {
  return configMap === undefined ? [] : [textInConfigMap(configMap, layer, key)];
}

function ambiguity(namespace: string, names: readonly string[]): readonly string[] {
  const [first] = names;
  if (first === undefined || names.length === 1) return [];
  return [
    `namespace ${namespace} has ${names.length} ConfigMaps labelled ${labels.defaults}=true (${names.join(', ')}); ` +
      `only the first by name, ${first}, is used: remove the label from the others`,
  ];
}

function nameOf(configMap: ConfigMap): string {
  return configMap.metadata.name ?? '';
}
