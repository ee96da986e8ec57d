/** The paths of an agent that everybody may read without a token, as they are written: globs over plain paths. */

import { Type } from 'typebox';
import type { Violation } from './violation.ts';

/**
 * Paths by default. RFC 9728 puts what it describes behind `/.well-known/oauth-protected-resource`, and MCP clients ask for that before
 * they have a token: the last `*` of a glob is the whole subtree.
 */
export const defaultBypassPaths: readonly string[] = ['/.well-known/*', '/healthz', '/readyz', '/livez', '/metrics'];

export const BypassPaths = Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 64 });
/** The path decoded once; undefined when it is not plain. */
export function plainForm(path: string): string | undefined {
  if (!path.startsWith('/') || /[^\x21-\x7e]/.test(path)) return undefined;
  const decoded = path.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  // Segments of dots also as Windows reads them, which drops blanks and dots at the end of a name.
  const isPlain = !/[^\x20-\x7e]|[%;]|\/\/|\/[. ]+(?:\/|$)/.test(decoded);
  return isPlain ? decoded : undefined;
}

/** Why a glob may not be used; undefined: nothing. */
export function globProblem(glob: string): string | undefined {
  if (!glob.startsWith('/')) return 'must begin with "/"';
  if (/^\/[^/]*\*/.test(glob) && !/^\/[^/*]/.test(glob)) return 'would open every path; write out the first segment';
  if (glob.includes('**')) return '"**" is not known; "/*" at the end is everything below';
  if (/[?#%\\;]/.test(glob)) return 'is compared with a path alone: no query, no escapes, no ";"';
  return plainForm(glob) === undefined ? 'must be a plain path: no "//", no "." or "..", printable ASCII' : undefined;
}

/** What the schema cannot say of a list that it accepts; paths begin at the list: `[0]`. */
export function globViolations(globs: readonly string[]): readonly Violation[] {
  return globs.flatMap((glob, index): readonly Violation[] => {
    const message = globProblem(glob);
    return message === undefined ? [] : [{ path: `[${index}]`, message: `${JSON.stringify(glob)} ${message}` }];
  });
}
