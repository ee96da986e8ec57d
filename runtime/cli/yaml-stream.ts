/** Reads the YAML of manifests as Kubernetes' own tools do: YAML 1.1, with the numbers of kubectl and without dates. */

import {
  type Document,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseAllDocuments,
  type Scalar,
  type ScalarTag,
  type Tags,
  visit,
} from 'yaml';
import { kubectlNumber } from './kubectl-number.ts';
import type { ParsedValue, ParseFault } from './parsed-value.ts';
import { shownValue } from './shown.ts';

const intTag = 'tag:yaml.org,2002:int';
const floatTag = 'tag:yaml.org,2002:float';
const binaryTag = 'tag:yaml.org,2002:binary';

/** What kubectl reads by rules of its own, leaves as text, or takes for the map or list that it is written as. */
const replacedTags = new Set(
  ['int', 'float', 'binary', 'timestamp', 'omap', 'pairs', 'set'].map((name) => `tag:yaml.org,2002:${name}`),
);

const ownTags: readonly ScalarTag[] = [
  { tag: 'tag:rossoctl.io,2026:number', default: true, test: /^[-+.0-9]/, resolve: (text) => kubectlNumber(text) },
  { tag: intTag, default: false, resolve: (text, onError) => tagged(text, typeof numeric(text) === 'bigint', onError) },
  { tag: floatTag, default: false, resolve: (text, onError) => tagged(text, numeric(text) !== text, onError) },
  { tag: binaryTag, default: false, resolve: (text) => Buffer.from(text, 'base64').toString() },
];

/**
 * Every document of the text. `0644` is octal and `on` is true, as in any manifest; timestamps stay text, and so does every key. Whole numbers beyond 2^53 keep their
 * digits (bigint). Keys that occur twice are a fault, and so are numbers that no JSON can hold.
 */
export function yamlValues(text: string): readonly ParsedValue[] | ParseFault {
  const lines = new LineCounter();
  try {
    const documents = parseAllDocuments(text, {
      version: '1.1',
      intAsBigInt: true,
      stringKeys: true,
      lineCounter: lines,
      customTags: (tags: Tags) => [
        ...tags.filter((tag) => typeof tag === 'string' || !replacedTags.has(tag.tag)),
        ...ownTags,
      ],
    });
    if (!Array.isArray(documents)) return [];
    const values: ParsedValue[] = [];
    for (const document of documents) {
      const [error] = document.errors;
      if (error !== undefined)
        return { before: values.length, fault: firstLine(error.message), line: lines.linePos(error.pos[0]).line };
      const odd = oddNumber(document);
      if (odd !== undefined)
        return { before: values.length, fault: odd.fault, line: lines.linePos(odd.node.range?.[0] ?? 0).line };
      const begin = document.contents?.range?.[0] ?? 0;
      values.push({ value: plain(document.toJS({ maxAliasCount: 1000 }), new Map()), line: lines.linePos(begin).line });
    }
    return values;
  } catch (error) {
    return { before: 0, fault: firstLine(messageOf(error)), line: 1 };
  }
}

function numeric(text: string): number | bigint | string {
  return /^[-+.0-9]/.test(text) ? kubectlNumber(text) : text;
}

/** A scalar with a tag of its own must be what the tag says. */
function tagged(text: string, isSound: boolean, onError: (message: string) => void): number | bigint | string {
  if (!isSound) onError(`${shownValue(text)} is not what its tag says it is`);
  return numeric(text);
}

/** The first number that is infinite or none: Kubernetes takes YAML for a spelling of JSON. */
function oddNumber(document: Document): { readonly node: Scalar; readonly fault: string } | undefined {
  let found: ReturnType<typeof oddNumber>;
  visit(document, {
    Scalar: (_, node, above) => {
      if (typeof node.value !== 'number' || Number.isFinite(node.value)) return undefined;
      const what = [titleOf(document), pathOf(node, above)].filter((each) => each !== '').join(': ');
      const fault = `${what} is ${node.source ?? String(node.value)}, which is no number in JSON; put it in quotes if it is text`;
      found = { node, fault };
      return visit.BREAK;
    },
  });
  return found;
}

/** `Pod team1/p`, as far as the document says. */
function titleOf(document: Document): string {
  const [kind, namespace, name] = [['kind'], ['metadata', 'namespace'], ['metadata', 'name']].map((path) => {
    const value: unknown = document.hasIn(path) ? document.getIn(path) : undefined;
    return typeof value === 'string' ? value : '';
  });
  return [kind, [namespace, name].filter(Boolean).join('/')].filter(Boolean).join(' ');
}

/** `spec.containers[0].args[1]`. */
function pathOf(node: Scalar, above: readonly (Document | Node | Pair)[]): string {
  let path = '';
  for (const [at, each] of above.entries()) {
    const below: unknown = above[at + 1] ?? node;
    if (isPair(each)) path += `${path === '' ? '' : '.'}${isScalar(each.key) ? String(each.key.value) : ''}`;
    else if (isSeq(each)) path += `[${each.items.indexOf(below)}]`;
  }
  return path === '' ? 'the document' : path;
}

/** Whole numbers that fit become ordinary ones again. What aliases share stays shared. */
function plain(value: unknown, seen: Map<object, unknown>): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  const known = seen.get(value);
  if (known !== undefined) return known;
  const copy = Array.isArray(value)
    ? value.map((element) => plain(element, seen))
    : Object.fromEntries(Object.entries(value).map(([key, element]) => [key, plain(element, seen)]));
  seen.set(value, copy);
  return copy;
}

function firstLine(message: string): string {
  if (message.includes('call stack')) return 'it is nested too deeply';
  return message.replace(/ at line \d+, column \d+:?[\s\S]*$/, '').split('\n', 1)[0] ?? message;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
