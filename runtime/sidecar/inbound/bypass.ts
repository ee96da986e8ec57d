/** Which requests need no token: a few paths that everybody may read, and the pod's own probes. */

import { Type } from 'typebox';
import { BypassPaths, defaultBypassPaths, globViolations, plainForm } from '../../config/bypass-paths.ts';
import { readJsonSetting, type Setting } from '../json-setting.ts';
import { isPartLike } from '../wildcard.ts';

/** A probe of the pod: exactly this path, query included, on exactly this port. */
export interface Probe {
  readonly port: number;
  readonly path: string;
}

/**
 * `bypass`: no token is asked for. `protected`: one is. `refused`: no two servers agree on what such a path means, so nobody gets it;
 * `why` is a sentence for the caller.
 */
export type PathVerdict =
  | { readonly kind: 'bypass' }
  | { readonly kind: 'protected' }
  | { readonly kind: 'refused'; readonly why: string };

export interface Asked {
  readonly method: string;
  /** As sent, query included. */
  readonly path: string;
  /** Where the connection was going. */
  readonly port: number | undefined;
}

/** These read and change nothing. A path that is open to readers, such as `/`, is still closed to callers. */
const readingMethods: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

/** How the kubelet asks gRPC servers (the only probe that is a POST). */
const grpcHealth = '/grpc.health.v1.Health/Check';

const bypass: PathVerdict = { kind: 'bypass' };
const isProtected: PathVerdict = { kind: 'protected' };

/**
 * Judges requests against globs and probes. In a glob `*` is any part of one segment, at least one character when it is all of it; a glob
 * that ends in `/*` is everything below that, at any depth. Globs must have passed `globProblem`.
 *
 * Only a path in its plain form bypasses: no segment of dots, no empty one, no parameters (`;`), nothing that is still escaped after one
 * decoding or that is not printable ASCII, and it must match both as sent and decoded. So whatever a server makes of it, decoding it
 * or not, once or twice, dropping parameters, joining slashes, what it finds lies where the glob says.
 */
export function createBypass(globs: readonly string[], probes: readonly Probe[]): (asked: Asked) => PathVerdict {
  const matchers = globs.map(matcherOf);
  const open = new Set(probes.map(({ port, path }) => `${port} ${path}`));
  return ({ method, path, port }) => {
    const sent = withoutQuery(path);
    const why = ambiguity(sent);
    if (why !== undefined) return { kind: 'refused', why };
    if (!mayBypass(method, sent)) return isProtected;
    const decoded = plainForm(sent);
    if (decoded === undefined) return isProtected;
    if (open.has(`${port} ${path}`)) return bypass;
    const isOpen = method !== 'POST' && matchers.some((matches) => matches(sent) && matches(decoded));
    return isOpen ? bypass : isProtected;
  };
}

const withoutQuery = (path: string): string => path.split('?', 1)[0] ?? '';

const mayBypass = (method: string, path: string): boolean =>
  readingMethods.includes(method) || (method === 'POST' && path === grpcHealth);

/** Forms that servers take for different paths, first match wins. */
const ambiguities: readonly (readonly [RegExp, string])[] = [
  [/\\|%5c/i, 'the path holds a backslash'],
  [/%2f/i, 'the path holds an escaped slash (%2F)'],
  [/%(?![0-9a-f]{2})/i, 'the path holds a "%" that begins no escape'],
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  [/[\x00-\x20\x7f#]|%[01][0-9a-f]|%7f/i, 'the path holds a space, a "#" or a control character'],
];

function ambiguity(path: string): string | undefined {
  return ambiguities.find(([pattern]) => pattern.test(path))?.[1];
}

/** Whether a path in its plain form lies where the glob says. */
function matcherOf(glob: string): (path: string) => boolean {
  const isSubtree = glob.endsWith('/*');
  const patterns = (isSubtree ? glob.slice(0, -2) : glob).split('/');
  return (path) => {
    const segments = path.split('/');
    const rest = segments.slice(patterns.length);
    const isDeepEnough = isSubtree ? rest.some((segment) => segment !== '') : rest.length === 0;
    return isDeepEnough && patterns.every((pattern, at) => isPartLike(pattern, segments[at] ?? ''));
  };
}

const probesSchema = Type.Array(
  Type.Object({
    port: Type.Integer({ minimum: 1, maximum: 65_535 }),
    path: Type.String({ minLength: 1, maxLength: 1024 }),
  }),
  { maxItems: 64 },
);

/** The variable `BYPASS_PATHS`: a JSON list of globs that takes the place of the defaults; `[]`: no path is open. */
export function readBypassPaths(text: string | undefined): Setting<readonly string[]> {
  return readJsonSetting<readonly string[]>('BYPASS_PATHS', text, {
    schema: BypassPaths,
    empty: defaultBypassPaths,
    rules: globViolations,
  });
}

/** The variable `PROBES`: a JSON list of `{port, path}`. A path that is not plain is no error: the kubelet may ask for it, and is refused. */
export function readProbes(text: string | undefined): Setting<readonly Probe[]> {
  return readJsonSetting<readonly Probe[]>('PROBES', text, {
    schema: probesSchema,
    empty: [],
    rules: (probes) =>
      probes.flatMap((probe, index) =>
        (['port', 'path'] as const)
          .filter((key) => probe[key] === undefined)
          .map((key) => ({ path: `[${index}].${key}`, message: 'is missing' })),
      ),
  });
}
