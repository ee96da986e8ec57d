/** The docstrings of a schema's properties, by path: what a setting is for, beside what its schema says of its form. */

import type { Checker, Type } from 'typescript/unstable/sync';
import type { Sources } from './program.ts';

/** Of the constant `name` that `file` exports: docstring by dotted path, of sections too. */
export function schemaTexts({ checker, exportsOf }: Sources, file: string, name: string): ReadonlyMap<string, string> {
  const symbol = exportsOf(file).get(name);
  const type = symbol === undefined ? undefined : checker.getTypeOfSymbol(symbol);
  if (type === undefined) throw new Error(`${file} exports no ${name}`);
  return new Map(textsBelow(checker, type, ''));
}

function textsBelow(checker: Checker, schema: Type, prefix: string): readonly (readonly [string, string])[] {
  const properties = memberType(checker, schema, 'properties');
  if (properties === undefined) return [];
  return checker.getPropertiesOfType(properties).flatMap((property): readonly (readonly [string, string])[] => {
    const path = prefix === '' ? property.name : `${prefix}.${property.name}`;
    const type = checker.getTypeOfSymbol(property);
    const text = checker.getDocumentationCommentOfSymbol(property);
    return [[path, text] as const, ...(type === undefined ? [] : textsBelow(checker, type, path))];
  });
}

function memberType(checker: Checker, type: Type, name: string): Type | undefined {
  const member = checker.getPropertyOfType(type, name);
  return member === undefined ? undefined : checker.getTypeOfSymbol(member);
}
