/** How a construct refuses its props: one error that names the construct, each prop and what to write instead. */

import { Chart } from 'cdk8s';
import { Construct, type IConstruct } from 'constructs';
import type { TObject } from 'typebox';
import { violationsOf } from '../runtime/config/check.ts';
import type { Violation } from '../runtime/config/violation.ts';

/**
 * Throws unless there is nothing to refuse. A line a violation: `[platform/rossoctl] replicas: 0 is not allowed; …`. A construct outside
 * of any chart is refused too: nothing in it could be synthesized.
 */
export function refuse(construct: IConstruct, violations: readonly Violation[]): void {
  const all = [...chartViolations(construct), ...violations];
  if (all.length === 0) return;
  throw new Error(all.map((violation) => `[${construct.node.path}] ${sentence(violation)}`).join('\n'));
}

function chartViolations({ node, constructor }: IConstruct): readonly Violation[] {
  if (node.scopes.some((scope) => Chart.isChart(scope))) return [];
  const message = `${constructor.name} must be in a chart, not in the app itself: new ${constructor.name}(new Chart(app, 'chart'), …)`;
  return [{ path: '', message }];
}

/** `prop: what is wrong with it; what is allowed`. */
export function sentence({ path, message }: Violation): string {
  return path === '' ? message : `${path}: ${message}`;
}

/**
 * What is wrong with props, by their schema: unknown ones (with the one that was probably meant), missing ones, wrong types and
 * values out of bounds. A prop that is `undefined` is absent. For callers that do not type-check too, so `props` may be anything.
 */
export function propViolations(schema: TObject, props: unknown): readonly Violation[] {
  const given = isRecord(props) ? props : {};
  const required = Object.fromEntries((schema.required ?? []).map((name) => [name, given[name]]));
  return violationsOf(schema, { ...required, ...(defined(given) as object) }).map(({ path, message }) => ({
    path,
    message: message.replace(/^is empty; /, 'is missing; '),
  }));
}

/** A copy without what is `undefined`, at any depth. Constructs, and what holds itself, stay what they are. */
export function defined(value: unknown, above: readonly unknown[] = []): unknown {
  if (above.includes(value) || Construct.isConstruct(value)) return value;
  if (Array.isArray(value)) return value.map((each: unknown) => defined(each, [...above, value]));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).filter(([, below]) => below !== undefined);
  return Object.fromEntries(entries.map(([key, below]) => [key, defined(below, [...above, value])]));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
