/** The manifest of the npm package, from the checkout's own: what a consumer installs, and what they may import. */

/** What is read of the checkout's `package.json`. */
export interface CheckoutManifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
}

/**
 * The oldest Node on which all of the package works: what its most demanding dependency asks for, the HTTP client. The checkout itself asks for
 * less, as it brings its own Node.
 */
export const neededNode = '22.19.0';

/**
 * `package.json` of the package. `imported` are the packages that the compiled code names: those that are no peers become dependencies, in
 * any compatible release. Throws on one that the checkout does not depend on, which a consumer would not have.
 */
export function packageManifest(
  checkout: CheckoutManifest,
  imported: readonly string[],
): Readonly<Record<string, unknown>> {
  const { name, version, description, license, bin, peerDependencies, peerDependenciesMeta } = checkout;
  const [main] = Object.values(checkout.exports);
  if (main === undefined) throw new Error('package.json exports nothing');
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    engines: { node: `>=${neededNode}` },
    bin,
    // For tools that do not read `exports`.
    main: compiled(main).default,
    types: compiled(main).types,
    exports: {
      ...Object.fromEntries(Object.entries(checkout.exports).map(([path, source]) => [path, compiled(source)])),
      './package.json': './package.json',
    },
    dependencies: Object.fromEntries(
      imported
        .filter((each) => peerDependencies[each] === undefined)
        .map((each) => [each, `^${releaseOf(each, checkout.dependencies)}`]),
    ),
    peerDependencies,
    peerDependenciesMeta,
  };
}

function compiled(source: string): { readonly types: string; readonly default: string } {
  if (!source.endsWith('.ts')) throw new Error(`package.json exports ${source}, which is no TypeScript`);
  return { types: source.replace(/ts$/, 'd.ts'), default: source.replace(/ts$/, 'js') };
}

function releaseOf(name: string, dependencies: CheckoutManifest['dependencies']): string {
  const release = dependencies[name];
  if (release === undefined)
    throw new Error(`the compiled code imports ${name}, which is no dependency in package.json`);
  return release;
}

const importPattern = /\b(?:from|import) '([^']+)'|\bimport\(['"]([^'"]+)['"]\)/g;

/** Names of the packages that JavaScript or declarations import, sorted; neither Node's own modules nor files. */
export function importedPackages(texts: readonly string[]): readonly string[] {
  const specifiers = texts.flatMap((text) =>
    [...text.matchAll(importPattern)].map(([, fixed, dynamic]) => fixed ?? dynamic ?? ''),
  );
  const packages = specifiers
    .filter((specifier) => !specifier.startsWith('.') && !specifier.startsWith('node:'))
    .flatMap((specifier) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? []);
  return [...new Set(packages)].sort();
}
