/** What one CustomResourceDefinition accepts and another does not: how releases stay compatible, and how an older one is recognised. */

import { isDeepStrictEqual } from 'node:util';
import type { PruningSchema } from './schema-pruning.ts';

/** A schema of OpenAPI v3 in its structural form, as far as it is compared. */
interface Schema extends PruningSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string }[];
  readonly [keyword: string]: unknown;
}

interface Version {
  readonly name: string;
  readonly served: boolean;
  readonly subresources?: { readonly status?: object };
  readonly schema?: { readonly openAPIV3Schema?: Schema };
}

/** The part of a CustomResourceDefinition that is compared. */
export interface ComparedCrd {
  readonly spec: Readonly<Record<string, unknown>>;
}

interface Identity {
  readonly group?: string;
  readonly scope?: string;
  readonly names?: Readonly<Record<string, unknown>>;
  readonly versions?: readonly Version[];
}

/**
 * Every respect in which `to` accepts less than `from`, a phrase each that begins with where: `v1alpha1 spec.mtlsMode: no value "strict"`.
 * Empty: every object that `from` accepts and keeps, `to` accepts and keeps. Where that cannot be told (two patterns), it is taken to be less.
 * Descriptions, printer columns, short names and defaults are not compared.
 */
export function narrowings(from: ComparedCrd, to: ComparedCrd): readonly string[] {
  return narrowingsOf(from, to).map(({ text: phrase }) => phrase);
}

/**
 * Those of the `narrowings` that are certain. What two patterns or rules have in common cannot be told: either may be the wider one, and so the
 * newer one.
 */
export function certainNarrowings(from: ComparedCrd, to: ComparedCrd): readonly string[] {
  return narrowingsOf(from, to)
    .filter(({ isCertain }) => isCertain)
    .map(({ text: phrase }) => phrase);
}

interface Narrowing {
  readonly text: string;
  readonly isCertain: boolean;
}

const certain = (phrase: string): Narrowing => ({ text: phrase, isCertain: true });

function narrowingsOf(from: ComparedCrd, to: ComparedCrd): readonly Narrowing[] {
  const [before, after] = [from.spec as Identity, to.spec as Identity];
  const identity = (['group', 'scope'] as const).flatMap((key) => replaced(key, before[key], after[key]));
  const names = ['kind', 'plural'].flatMap((key) => replaced(`names.${key}`, before.names?.[key], after.names?.[key]));
  const served = (before.versions ?? []).filter((version) => version.served);
  return [...identity, ...names, ...served.flatMap((version) => versionNarrowings(version, after.versions ?? []))];
}

/** The schema of one version of a definition; undefined: it has no such version. */
export function schemaOf({ spec }: ComparedCrd, version: string): PruningSchema | undefined {
  return (spec as Identity).versions?.find(({ name }) => name === version)?.schema?.openAPIV3Schema;
}

function versionNarrowings(from: Version, versions: readonly Version[]): readonly Narrowing[] {
  const to = versions.find(({ name }) => name === from.name);
  if (to?.served !== true) return [certain(`${from.name}: not served`)];
  const lost = from.subresources?.status !== undefined && to.subresources?.status === undefined;
  const schemas = [from.schema?.openAPIV3Schema ?? {}, to.schema?.openAPIV3Schema ?? {}] as const;
  return [
    ...(lost ? [certain(`${from.name}: no status subresource`)] : []),
    ...schemaNarrowings(...schemas, '').map((one) => ({ ...one, text: `${from.name} ${one.text}` })),
  ];
}

type Rule = (from: Schema, to: Schema, at: string) => readonly Narrowing[];

/** Absent: no limit. */
const ceilings = ['maxLength', 'maxItems', 'maxProperties', 'maximum'];
const floors = ['minLength', 'minItems', 'minProperties', 'minimum'];
/** Absent accepts everything; two different ones cannot be compared. */
const restrictions = ['pattern', 'format', 'multipleOf', 'allOf', 'anyOf', 'oneOf', 'not'];
/** True accepts less. */
const closing = ['exclusiveMinimum', 'exclusiveMaximum', 'uniqueItems', 'x-kubernetes-embedded-resource'];
/** True accepts more. */
const opening = ['nullable', 'x-kubernetes-preserve-unknown-fields', 'x-kubernetes-int-or-string'];
/** Decide who owns which part when several write: another value takes fields from their owners. */
const merging = ['x-kubernetes-list-type', 'x-kubernetes-list-map-keys', 'x-kubernetes-map-type'];

const compare =
  (keywords: readonly string[], isLess: (from: unknown, to: unknown) => boolean): Rule =>
  (from, to, at) =>
    keywords
      .filter((keyword) => isLess(from[keyword], to[keyword]))
      .map((keyword) => ({
        text: `${at}: ${keyword} ${text(to[keyword])} instead of ${text(from[keyword])}`,
        isCertain: !restrictions.includes(keyword) || from[keyword] === undefined,
      }));

/** Of two schemas of one type. */
const rules: readonly Rule[] = [
  compare(ceilings, (from, to) => number(to, Number.POSITIVE_INFINITY) < number(from, Number.POSITIVE_INFINITY)),
  compare(floors, (from, to) => number(to, Number.NEGATIVE_INFINITY) > number(from, Number.NEGATIVE_INFINITY)),
  compare(restrictions, (from, to) => to !== undefined && !isDeepStrictEqual(from, to)),
  compare(closing, (from, to) => from !== true && to === true),
  compare(opening, (from, to) => from === true && to !== true),
  compare(merging, (from, to) => !isDeepStrictEqual(from, to)),
  ({ enum: from }, { enum: to }, at) => {
    if (to === undefined) return [];
    if (from === undefined) return [certain(`${at}: only ${to.map(text).join(', ')}`)];
    return from.filter((value) => !to.includes(value)).map((value) => certain(`${at}: no value ${text(value)}`));
  },
  ({ required: from = [] }, { required: to = [], properties = {} }, at) =>
    to
      .filter((name) => !from.includes(name) && properties[name]?.['default'] === undefined)
      .map((name) => certain(`${child(at, name)}: required`)),
  (from, to, at) => {
    const known = (from['x-kubernetes-validations'] ?? []).map(({ rule }) => rule);
    const added = (to['x-kubernetes-validations'] ?? []).filter(({ rule }) => !known.includes(rule));
    const isReplaced = known.some(
      (rule) => !(to['x-kubernetes-validations'] ?? []).some((other) => other.rule === rule),
    );
    return added.map(({ rule }) => ({ text: `${at}: rule ${rule}`, isCertain: !isReplaced }));
  },
  ({ items: from = {} }, { items: to }, at) => (to === undefined ? [] : schemaNarrowings(from, to, `${at}[]`)),
  propertyNarrowings,
  openNarrowings,
];

function schemaNarrowings(from: Schema, to: Schema, at: string): readonly Narrowing[] {
  const isWider = from.type === to.type || to.type === undefined || (from.type === 'integer' && to.type === 'number');
  if (!isWider) return replaced(`${at}: type`, from.type, to.type);
  return rules.flatMap((rule) => rule(from, to, at));
}

/** The fields that have a name; one that `to` does not name is kept only where `to` keeps any. */
function propertyNarrowings(from: Schema, to: Schema, at: string): readonly Narrowing[] {
  return Object.entries(from.properties ?? {}).flatMap(([name, schema]) => {
    const where = child(at, name);
    const other = to.properties?.[name] ?? others(to);
    return other === undefined ? [certain(`${where}: no such field`)] : schemaNarrowings(schema, other, where);
  });
}

/** The fields that have no name in `from`. */
function openNarrowings(from: Schema, to: Schema, at: string): readonly Narrowing[] {
  const schema = others(from);
  if (schema === undefined) return [];
  const named = Object.entries(to.properties ?? {}).filter(([name]) => from.properties?.[name] === undefined);
  const other = others(to);
  return [
    ...named.flatMap(([name, one]) => schemaNarrowings(schema, one, child(at, name))),
    ...(other === undefined ? [certain(`${at}: no other fields`)] : schemaNarrowings(schema, other, `${at}.*`)),
  ];
}

/** What a field without a name may be: anything, something, or (undefined) it is dropped. */
function others({ additionalProperties, ...schema }: Schema): Schema | undefined {
  if (typeof additionalProperties === 'object') return additionalProperties;
  return additionalProperties === true || schema['x-kubernetes-preserve-unknown-fields'] === true ? {} : undefined;
}

function replaced(what: string, from: unknown, to: unknown): readonly Narrowing[] {
  return isDeepStrictEqual(from, to) ? [] : [certain(`${what} ${text(to)} instead of ${text(from)}`)];
}

const child = (at: string, name: string): string => (at === '' ? name : `${at}.${name}`);

const number = (value: unknown, absent: number): number => (typeof value === 'number' ? value : absent);

const text = (value: unknown): string => (value === undefined ? 'none' : JSON.stringify(value));
