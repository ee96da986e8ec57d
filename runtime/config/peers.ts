/** What the schema cannot say about peers of network policies: the API server would refuse it, or it opens more than it seems to. */

import { type Cidr, isCanonical, isStrictlyWithin, parseCidr } from '../encoding/cidr.ts';
import { labelKeyPattern } from './network-policy.ts';
import { isSection, type Section } from './overlay.ts';
import { shown } from './problem.ts';
import type { Violation } from './violation.ts';

/** The lists of peers, by path. */
const lists: readonly (readonly string[])[] = [
  ['networkPolicy', 'ingressFrom'],
  ['networkPolicy', 'egressTo'],
  ['networkPolicy', 'dns', 'peers'],
];

/** Of a configuration that the schema accepts. */
export function peerViolations(config: unknown): readonly Violation[] {
  return lists.flatMap((path) => {
    const found = path.reduce<unknown>((at, step) => (isSection(at) ? at[step] : undefined), config);
    return itemsOf(found).flatMap((peer, i) => ofPeer(peer, `${path.join('.')}[${i}]`));
  });
}

function ofPeer(peer: Section, path: string): readonly Violation[] {
  const { namespaceSelector, podSelector, ipBlock, ports } = peer;
  return [
    ...ofShape(peer, path),
    ...(isSection(namespaceSelector) ? ofSelector(namespaceSelector, `${path}.namespaceSelector`) : []),
    ...(isSection(podSelector) ? ofSelector(podSelector, `${path}.podSelector`) : []),
    ...(isSection(ipBlock) ? ofBlock(ipBlock, `${path}.ipBlock`) : []),
    ...itemsOf(ports).flatMap((port, i) => ofPort(port, `${path}.ports[${i}]`)),
    ...(Array.isArray(ports) && ports.length === 0
      ? [violation(`${path}.ports`, 'is empty; remove it for all ports')]
      : []),
  ];
}

/** Everything must be said in so many words: what is merely left out opens nothing. */
function ofShape({ namespaceSelector, podSelector, ipBlock }: Section, path: string): readonly Violation[] {
  const hasSelector = namespaceSelector !== undefined || podSelector !== undefined;
  if (!hasSelector && ipBlock === undefined) {
    return [violation(path, 'names nobody; write podSelector, namespaceSelector or ipBlock')];
  }
  if (hasSelector && ipBlock !== undefined) {
    return [violation(path, 'has both selectors and ipBlock; make two entries of it')];
  }
  const isEverybody = namespaceSelector !== undefined && podSelector === undefined && isEmpty(namespaceSelector);
  const remedy = 'is every pod of every namespace; if that is meant, write podSelector: {} beside it';
  return isEverybody ? [violation(`${path}.namespaceSelector`, remedy)] : [];
}

/** Selects everything. */
function isEmpty(selector: unknown): boolean {
  if (!isSection(selector)) return false;
  const { matchLabels, matchExpressions } = selector;
  const hasLabels = isSection(matchLabels) && Object.keys(matchLabels).length > 0;
  return !hasLabels && itemsOf(matchExpressions).length === 0;
}

function ofSelector({ matchLabels, matchExpressions }: Section, path: string): readonly Violation[] {
  const keys = isSection(matchLabels) ? Object.keys(matchLabels) : [];
  return [
    ...keys
      .filter((key) => !new RegExp(labelKeyPattern).test(key))
      .map((key) => violation(`${path}.matchLabels`, `${shown(key)} cannot be a label’s key`)),
    ...itemsOf(matchExpressions).flatMap((each, i) => ofExpression(each, `${path}.matchExpressions[${i}]`)),
  ];
}

function ofExpression({ key, operator, values }: Section, path: string): readonly Violation[] {
  const missing = Object.entries({ key, operator }).filter(([, value]) => value === undefined);
  if (missing.length > 0) return missing.map(([name]) => violation(path, `has no ${name}`));
  const hasValues = Array.isArray(values) && values.length > 0;
  const takesValues = operator === 'In' || operator === 'NotIn';
  if (takesValues === hasValues) return [];
  return [violation(path, `${String(operator)} takes ${takesValues ? 'at least one entry in values' : 'no values'}`)];
}

function ofBlock({ cidr, except }: Section, path: string): readonly Violation[] {
  if (typeof cidr !== 'string') return [violation(path, 'has no cidr')];
  const outer = parseCidr(cidr);
  const holes = Array.isArray(except) ? except.map(String) : [];
  return [...ofRange(cidr, `${path}.cidr`), ...holes.flatMap((hole, i) => ofHole(hole, outer, `${path}.except[${i}]`))];
}

function ofHole(text: string, outer: Cidr | undefined, path: string): readonly Violation[] {
  const inner = parseCidr(text);
  if (inner === undefined || outer === undefined || isStrictlyWithin(inner, outer)) return ofRange(text, path);
  return [violation(path, `${shown(text)} is no part of cidr`)];
}

function ofRange(text: string, path: string): readonly Violation[] {
  const cidr = parseCidr(text);
  if (cidr === undefined) return [violation(path, `${shown(text)} is no range of addresses such as 10.0.0.0/8`)];
  if (isCanonical(cidr)) return [];
  const whole = `/${cidr.bits} for the one address, or the first address of the range`;
  return [violation(path, `${shown(text)} has bits beyond its prefix; write ${whole}`)];
}

function ofPort({ port, endPort }: Section, path: string): readonly Violation[] {
  if (port !== undefined && !isPort(port)) {
    return [violation(`${path}.port`, `${shown(port)} is no port; write a number from 1 to 65535, or its name`)];
  }
  if (endPort === undefined) return [];
  if (typeof port !== 'number') return [violation(`${path}.endPort`, 'needs a port that is a number')];
  return Number(endPort) < port ? [violation(`${path}.endPort`, `${shown(endPort)} is below port ${port}`)] : [];
}

function isPort(port: unknown): boolean {
  if (typeof port === 'number') return Number.isInteger(port) && port >= 1 && port <= 65535;
  return typeof port === 'string' && /^(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$/.test(port);
}

function violation(path: string, message: string): Violation {
  return { path, message };
}

function itemsOf(value: unknown): readonly Section[] {
  return Array.isArray(value) ? value.filter(isSection) : [];
}
