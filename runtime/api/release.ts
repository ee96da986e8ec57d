/** The release of this code, and how two releases compare. */

/** As in package.json, which a bundled operator does not have; a test holds the two together. */
export const release = '0.1.0';

/** A release as semantic versioning writes it: `1.2.3`, `1.2.3-rc.1`. */
export const releasePattern = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;

/** How a release stands to another. */
export type Age = 'older' | 'same' | 'newer';

/** How `one` stands to `other`, both as `releasePattern`: by number, and a pre-release before its release. */
export function ageOf(one: string, other: string): Age {
  const [a, b] = [partsOf(one), partsOf(other)];
  const isPre = (text: string): number => Number(text !== '');
  const order = byNumber(a.numbers, b.numbers) || isPre(b.pre) - isPre(a.pre) || byNumber(a.pre, b.pre);
  if (order === 0) return 'same';
  return order < 0 ? 'older' : 'newer';
}

const byNumber = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });

/** Build metadata, behind a plus sign, has no rank. */
function partsOf(text: string): { readonly numbers: string; readonly pre: string } {
  const [, numbers = '', pre = ''] = /^([\d.]+)(?:-([^+]*))?/.exec(text) ?? [];
  return { numbers, pre };
}
