/** YAML text → plain JSON values with the line of each path; bounded, and strict about everything that hides a typing error. */

import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type Scalar } from 'yaml';
import { shortened } from './problem.ts';
import type { Violation } from './violation.ts';

export interface YamlTree {
  /** `undefined` for an empty document, one of comments alone, or a bare `null`: it sets nothing. */
  readonly value: unknown;
  /** The line where a dotted path (`a.b[2].c`) begins; of its nearest parent when it has none of its own. */
  lineOf(path: string): number | undefined;
}

/** A ConfigMap holds 1 MiB; a configuration a person wrote holds a few KiB. */
const maxBytes = 256 * 1024;
const maxDepth = 32;
const tooDeep = `nested more than ${maxDepth} levels deep`;
/** Values, counted again for each alias: what tools that reuse objects write stays far below, an alias bomb does not. */
const maxNodes = 5_000;
const tooMany = `the document has more than ${maxNodes} values, aliases included`;
/** Signs of YAML's grammar; the parser's time grows with them, so a text that is all signs is not given to it. */
const maxSigns = 4 * maxNodes;
/** Tags that say what the core schema would find anyway, or that text is text. */
const coreTags = /^tag:yaml\.org,2002:(str|int|float|bool|null|map|seq)$/;

/**
 * Reads one YAML 1.2 document (core schema: `yes` and `off` are text). Refused, each with path and line: more than 256 KiB, more than 32
 * levels, several documents, aliases that multiply, merge keys, tags, duplicate keys, `__proto__`, keys that are not text, a key without a
 * value, numbers without a JSON form. Never throws.
 */
export function readYaml(text: string): YamlTree | readonly Violation[] {
  const outside = tooLarge(text);
  if (outside !== undefined) return [{ path: '', message: outside }];
  const lines = new LineCounter();
  const document = parsed(text, lines);
  if (document === undefined) return [{ path: '', message: tooDeep }];
  const faults = [...document.errors, ...document.warnings].map(({ code, message, pos }) => ({
    path: '',
    line: lines.linePos(pos[0]).line,
    message: faultMessage(code, message),
  }));
  if (faults.length > 0) return faults;
  const walk: Walk = { lines, lineByPath: new Map(), anchors: new Map(), violations: [], budget: maxNodes };
  const root = document.contents;
  const isEmpty = root === null || (isScalar(root) && root.value === null);
  const value = isEmpty ? undefined : plain(root, '', walk, 0);
  if (walk.violations.length > 0) return walk.violations;
  return { value, lineOf: (path) => nearestLine(walk.lineByPath, path) };
}

/** The parser reports an exhausted stack of its own as one more fault. */
function faultMessage(code: string, message: string): string {
  if (code === 'MULTIPLE_DOCS') return 'there is more than one YAML document; keep one';
  return message.startsWith('Maximum call stack') ? tooDeep : firstLine(message);
}

interface Walk {
  readonly lines: LineCounter;
  readonly lineByPath: Map<string, number>;
  readonly anchors: Map<string, Node>;
  readonly violations: Violation[];
  /** Nodes left to visit; an alias visits its target again, so this bounds what aliases multiply. */
  budget: number;
}

/** Bounds what the parser sees: size, brackets left open, compact nesting such as `- - - -`, and the signs of its grammar. */
function tooLarge(text: string): string | undefined {
  if (Buffer.byteLength(text) > maxBytes) return `the document is larger than ${maxBytes / 1024} KiB`;
  if (/^[ \t]*(?:[-?:][ \t]+){33}/m.test(text)) return tooDeep;
  let open = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    open += bracket === '[' || bracket === '{' ? 1 : -1;
    if (open > 4 * maxDepth) return tooDeep;
  }
  const signs = text.match(/[-?:,&*!][ \t\n]|[[\]{}\n]/g)?.length ?? 0;
  return signs > maxSigns ? tooMany : undefined;
}

function parsed(text: string, lineCounter: LineCounter) {
  try {
    return parseDocument(text, { lineCounter, prettyErrors: false, schema: 'core', merge: false, uniqueKeys: false });
  } catch (error) {
    // What slips past `tooLarge` exhausts the parser's stack; any other failure is a bug.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function plain(node: Node, path: string, walk: Walk, depth: number): unknown {
  if (!walk.lineByPath.has(path)) walk.lineByPath.set(path, lineAt(node, walk));
  const target = isAlias(node) ? walk.anchors.get(node.source) : node;
  const message = target === undefined ? 'an alias without its anchor' : refusal(target, walk, depth);
  if (target === undefined || message !== undefined) return refuse(walk, path, message ?? '');
  if (target === node && node.anchor !== undefined) walk.anchors.set(node.anchor, node);
  if (isSeq<Node>(target)) return target.items.map((item, i) => plain(item, `${path}[${i}]`, walk, depth + 1));
  if (isMap<Node, Node | null>(target)) return plainMap(target.items, path, walk, depth);
  return (target as Scalar).value;
}

/** Why a node is not accepted, whatever its path. */
function refusal(node: Node, walk: Walk, depth: number): string | undefined {
  walk.budget -= 1;
  if (depth > maxDepth) return tooDeep;
  if (walk.budget < 0) return tooMany;
  if (node.tag !== undefined && !coreTags.test(node.tag)) return `the tag ${shortened(node.tag)} is not accepted`;
  return isScalar(node) ? scalarRefusal(node.value) : undefined;
}

function scalarRefusal(value: unknown): string | undefined {
  if (value === null || value === undefined) return 'has no value; write one or remove the key';
  if (typeof value === 'number' && !Number.isFinite(value)) return `${value} is not a number JSON can hold`;
  return typeof value === 'string' && !value.isWellFormed() ? 'is not Unicode text (a lone surrogate)' : undefined;
}

function refuse(walk: Walk, path: string, message: string): undefined {
  // Past the budget every node is refused; one sentence is enough.
  if (walk.budget < -1) return;
  walk.violations.push({ path, line: walk.lineByPath.get(path), message });
}

function lineAt(node: Node, walk: Walk): number {
  return walk.lines.linePos(node.range?.[0] ?? 0).line;
}

type Pairs = readonly { readonly key: Node; readonly value: Node | null }[];

function plainMap(pairs: Pairs, path: string, walk: Walk, depth: number): unknown {
  const result: Record<string, unknown> = {};
  for (const { key, value } of pairs) {
    if (walk.budget < 0) break;
    const name: unknown = isScalar(key) ? key.value : undefined;
    const line = lineAt(key, walk);
    if (typeof name !== 'string' || name === '__proto__' || !name.isWellFormed()) {
      const text = shortened(String(isScalar(key) ? (key.source ?? name) : 'a list or section'));
      walk.violations.push({ path, line, message: `${text} cannot be a key; keys are plain text` });
      continue;
    }
    const below = path === '' ? name : `${path}.${name}`;
    if (isMergeKey(key)) {
      walk.violations.push({ path: below, line, message: 'merge keys are not supported: write the keys out' });
      continue;
    }
    if (Object.hasOwn(result, name)) {
      const message = `is set twice, first in line ${walk.lineByPath.get(below) ?? line}`;
      walk.violations.push({ path: below, line, message });
      continue;
    }
    walk.lineByPath.set(below, line);
    result[name] =
      value === null ? refuse(walk, below, scalarRefusal(null) ?? '') : plain(value, below, walk, depth + 1);
  }
  return result;
}

/** Of YAML 1.1; 1.2 knows none, and what they hide is not seen in a review. In quotes it is text. */
function isMergeKey(key: Node): boolean {
  return isScalar(key) && key.type === 'PLAIN' && key.value === '<<';
}

function nearestLine(lineByPath: ReadonlyMap<string, number>, path: string): number | undefined {
  for (let at = path; at !== ''; at = at.slice(0, Math.max(at.lastIndexOf('.'), at.lastIndexOf('['), 0))) {
    const line = lineByPath.get(at);
    if (line !== undefined) return line;
  }
  return lineByPath.get('');
}

function firstLine(message: string): string {
  return shortened(message.split('\n')[0] ?? message);
}
