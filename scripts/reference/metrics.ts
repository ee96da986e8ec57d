/** The page of the metrics: read from the calls that make them, so that none can be missing. */

import type { CallExpression, Node, SourceFile } from 'typescript/unstable/ast';
import {
  isArrayLiteralExpression,
  isCallExpression,
  isIdentifier,
  isObjectLiteralExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isStringLiteral,
} from 'typescript/unstable/ast/is';
import { code, codes, pageText, table } from './markdown.ts';
import { codeFiles, type Sources } from './program.ts';

/** One metric. */
export interface Metric {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
}

/** The page. Throws when a metric is made in a way that cannot be read, naming the file. */
export function metricsPage(sources: Sources): string {
  return pageText({
    title: 'Metrics',
    intro: [
      'At `/metrics` of `--metrics-port`, in the Prometheus text format. Besides these there are `process_*` and `nodejs_*` of the process itself. Reasons',
      'that occur as labels are in [conditions](conditions.md). A replica without the Lease answers webhooks and runs no controller: add up over replicas.',
    ].join('\n'),
    parts: [
      table(
        ['metric', 'type', 'labels', 'what it is'],
        metrics(sources).map(({ name, type, labels, help }) => [code(name), type, codes(labels), help]),
      ),
    ],
  });
}

/** Every metric that the operator's sources make, by name. */
export function metrics(sources: Sources): readonly Metric[] {
  return codeFiles('runtime')
    .flatMap((name) => metricsOf(sources, sources.file(name), name))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

const types: readonly string[] = ['counter', 'gauge', 'histogram'];
const registry = 'runtime/engine/metrics.ts';

function metricsOf({ checker }: Sources, file: SourceFile, name: string): readonly Metric[] {
  return callsIn(file).flatMap(({ expression, arguments: [given] }) => {
    if (!isPropertyAccessExpression(expression) || !types.includes(expression.name.text)) return [];
    const { declarations = [] } = checker.getSymbolAtLocation(expression.name) ?? {};
    if (!declarations.some(({ path }) => path.endsWith(registry))) return [];
    const type = expression.name.text;
    const spec = literal(given) as Partial<Metric> | undefined;
    if (typeof spec?.name !== 'string' || typeof spec.help !== 'string')
      throw new Error(`${name}: a ${type} is made with a name or help that is not written out there`);
    return [{ name: spec.name, type, labels: spec.labels ?? [], help: spec.help }];
  });
}

function callsIn(node: Node): readonly CallExpression[] {
  const found: CallExpression[] = isCallExpression(node) ? [node] : [];
  node.forEachChild((child) => void found.push(...callsIn(child)));
  return found;
}

/** The value of an expression as far as it is written out; else undefined. */
function literal(node: Node | undefined): unknown {
  if (node === undefined) return undefined;
  if (isStringLiteral(node)) return node.text;
  if (isArrayLiteralExpression(node)) return node.elements.map(literal);
  if (!isObjectLiteralExpression(node)) return undefined;
  const properties = node.properties.filter(isPropertyAssignment);
  return Object.fromEntries(
    properties.flatMap(({ name, initializer }) => (isIdentifier(name) ? [[name.text, literal(initializer)]] : [])),
  );
}
