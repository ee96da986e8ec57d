/** What a file exports, as its declarations and docstrings say it: the plain data of a reference page. */

import type { ModifiersBase, Node } from 'typescript/unstable/ast';
import {
  isConstructorDeclaration,
  isGetAccessorDeclaration,
  isMethodDeclaration,
  isPropertyDeclaration,
  isPropertySignatureDeclaration,
  isTypeAliasDeclaration,
  isUnionTypeNode,
} from 'typescript/unstable/ast/is';
import { type Checker, type Symbol as Named, SymbolFlags } from 'typescript/unstable/sync';
import type { Sources } from './program.ts';

/** A prop, an attribute, a method or a constructor. */
export interface Member {
  readonly name: string;
  /** As it is written; of a method, its parameters and what it returns. */
  readonly type: string;
  readonly text: string;
  /** From `@default`. */
  readonly byDefault: string | undefined;
  readonly isOptional: boolean;
  readonly kind: 'constructor' | 'property' | 'method';
  /** It follows from a schema, which has the text. */
  readonly isFromSchema: boolean;
}

/** A class, an interface or a type. */
export interface Declaration {
  readonly name: string;
  readonly kind: 'class' | 'interface' | 'type';
  readonly text: string;
  /** What a type is, where it says so itself. */
  readonly definition: string | undefined;
  readonly members: readonly Member[];
}

/** Everything that the file exports, in its order. */
export function declarationsOf(sources: Sources, file: string): readonly Declaration[] {
  return [...sources.exportsOf(file)].map(([name, symbol]) => declaration(sources, name, symbol));
}

function declaration({ checker }: Sources, name: string, symbol: Named): Declaration {
  const kind = kindOf(symbol);
  const constructor = [...symbol.getMembers().values()].filter((member) => member.name === '__constructor');
  const statics = [...symbol.getExports().values()];
  const properties = checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol));
  const members = kind === 'class' ? [...constructor, ...statics, ...properties] : properties;
  return {
    name,
    kind,
    text: checker.getDocumentationCommentOfSymbol(symbol),
    definition: definitionOf(symbol),
    members: kind === 'type' ? [] : members.flatMap((each) => memberOf(checker, each)),
  };
}

function kindOf({ flags }: Named): Declaration['kind'] {
  if ((flags & SymbolFlags.Class) !== 0) return 'class';
  return (flags & SymbolFlags.Interface) === 0 ? 'type' : 'interface';
}

function definitionOf({ declarations }: Named): string | undefined {
  const alias = declarations
    .map((handle) => handle.resolve())
    .find((node) => node !== undefined && isTypeAliasDeclaration(node));
  return alias !== undefined && isUnionTypeNode(alias.type) ? oneLine(alias.type) : undefined;
}

/** Nothing for what is private, protected or another package's. */
function memberOf(checker: Checker, symbol: Named): readonly Member[] {
  const [handle] = symbol.declarations;
  const node = handle?.resolve();
  if (node === undefined || handle?.path.includes('/node_modules/') || symbol.name.startsWith('__#')) return [];
  const modifiers = ((node as ModifiersBase).modifiers ?? []).map((modifier) => modifier.getText());
  if (modifiers.includes('private') || modifiers.includes('protected')) return [];
  const type = writtenType(node);
  return [
    {
      name: modifiers.includes('static') ? `static ${symbol.name}` : symbol.name,
      type: type ?? derivedType(checker, symbol),
      text: checker.getDocumentationCommentOfSymbol(symbol),
      byDefault: checker.getJsDocTagsOfSymbol(symbol).find(({ name }) => name === 'default')?.text,
      isOptional: (symbol.flags & SymbolFlags.Optional) !== 0,
      kind: isConstructorDeclaration(node) ? 'constructor' : isMethodDeclaration(node) ? 'method' : 'property',
      isFromSchema: type === undefined,
    },
  ];
}

/** As the source has it; undefined where it follows from a schema. */
function writtenType(node: Node): string | undefined {
  if (isConstructorDeclaration(node)) return `(${node.parameters.map(oneLine).join(', ')})`;
  if (isMethodDeclaration(node))
    return `(${node.parameters.map(oneLine).join(', ')})${node.type === undefined ? '' : `: ${oneLine(node.type)}`}`;
  const isTyped = isPropertyDeclaration(node) || isPropertySignatureDeclaration(node) || isGetAccessorDeclaration(node);
  return isTyped && node.type !== undefined ? oneLine(node.type) : undefined;
}

function oneLine(node: Node): string {
  return node.getText().replaceAll(/\s+/g, ' ').replace(/^\| /, '');
}

function derivedType(checker: Checker, symbol: Named): string {
  const type = checker.getTypeOfSymbol(symbol);
  const text = type === undefined ? '' : checker.typeToString(checker.getNonNullableType(type) ?? type);
  return text.startsWith('{') ? 'a section' : text;
}
