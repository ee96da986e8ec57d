/** Turns what `cdk8s import` generates into TypeScript that Node runs as it is: no enums, types imported as types. */

const typeImports: readonly (readonly [RegExp, string])[] = [
  [
    /^import \{ ApiObject, ApiObjectMetadata, GroupVersionKind \} from 'cdk8s';$/m,
    "import { ApiObject, type ApiObjectMetadata, type GroupVersionKind } from 'cdk8s';",
  ],
  [/^import \{ Construct \} from 'constructs';$/m, "import type { Construct } from 'constructs';"],
];

const enumMember = /^(\s*)(\w+) = ("[^"]*"),$/gm;
const enumBlock = /^export enum (\w+) \{\n([\s\S]*?)^\}$/gm;

/** An enum becomes a constant object and a union of its values, so plain string literals type-check as well. */
function constantOf(name: string, body: string): string {
  const members = body.replaceAll(enumMember, '$1$2: $3,');
  return `export const ${name} = {\n${members}} as const;\nexport type ${name} = (typeof ${name})[keyof typeof ${name}];`;
}

/** Erasable TypeScript of the same API. Throws when the generator's output no longer has the shape this was written for. */
export function erasableImport(source: string): string {
  let erasable = source;
  for (const [pattern, replacement] of typeImports) {
    if (!pattern.test(erasable)) throw new Error(`generated code has no line matching ${pattern}: adapt the rewriting`);
    erasable = erasable.replace(pattern, replacement);
  }
  erasable = erasable.replaceAll(enumBlock, (_, name: string, body: string) => constantOf(name, body));
  if (/^export enum /m.test(erasable)) throw new Error('generated code still has an enum: adapt the rewriting');
  return erasable;
}
