/** The sources as the compiler sees them: its checker answers what a symbol is called, of what type, and with which docstring. */

import { globSync } from 'node:fs';
import path from 'node:path';
import {
  API,
  type Checker,
  type Program,
  type Symbol as TypeScriptSymbol,
  SymbolFlags,
} from 'typescript/unstable/sync';
import type { SourceFile } from 'typescript/unstable/ast';

const root = path.resolve(import.meta.dirname, '../..');

/** The TypeScript files below a folder, by path relative to the repository. */
export function codeFiles(folder: string): readonly string[] {
  return globSync(`${folder}/**/*.ts`, { cwd: root }).sort();
}

/** The checked sources; nothing of it is of use after `reading` has ended. */
export interface Sources {
  readonly checker: Checker;
  readonly program: Program;
  /** Of a path relative to the repository. Throws when the file is not part of the program. */
  readonly file: (name: string) => SourceFile;
  /** What a file exports, by name, aliases followed. */
  readonly exportsOf: (name: string) => ReadonlyMap<string, TypeScriptSymbol>;
}

/** Hands the checked sources to `read`. The compiler's own process ends with it. */
export function reading<T>(read: (sources: Sources) => T): T {
  const api = new API({ cwd: root });
  try {
    const config = path.join(root, 'tsconfig.json');
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    if (project === undefined) throw new Error(`${config} makes no program`);
    return read(sourcesOf(project));
  } finally {
    api.close();
  }
}

function sourcesOf({ checker, program }: { readonly checker: Checker; readonly program: Program }): Sources {
  const file = (name: string): SourceFile => {
    const found = program.getSourceFile(path.join(root, name));
    if (found === undefined) throw new Error(`${name} is not part of the program`);
    return found;
  };
  const exportsOf = (name: string) => {
    const module = checker.getSymbolAtLocation(file(name));
    const symbols = module === undefined ? [] : checker.getExportsOfModule(module);
    return new Map(symbols.map((symbol) => [symbol.name, followed(checker, symbol)]));
  };
  return { checker, program, file, exportsOf };
}

function followed(checker: Checker, symbol: TypeScriptSymbol): TypeScriptSymbol {
  return (symbol.flags & SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);
}
