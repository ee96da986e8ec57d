/** Foreign text made safe to show: in conditions, logs, columns and terminals. */

/** Escape sequences of terminals: CSI, OSC up to its end, and the two-character ones. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const escapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])?/g;

/** Control characters and line separators. */
const controls = /[\p{Cc}\u2028\u2029]+/gu;

/** Characters that are not seen but change what is: direction marks, tags, fillers. The joiners of scripts and emoji are none. */
const invisible = /(?![\u200c\u200d])[\p{Cf}\u115f\u1160\u3164\uffa0]/gu;

/**
 * One line without terminal escapes, control and direction characters, at most `maxLength` code points long (as JSON schema counts);
 * what is longer ends in `…`.
 */
export function plainText(text: string, maxLength: number): string {
  const cut = text.length > 8 * maxLength ? text.slice(0, 8 * maxLength) : text;
  const plain = cut.toWellFormed().replaceAll(escapes, '').replaceAll(invisible, '').replaceAll(controls, ' ').trim();
  const points = Array.from(plain);
  return points.length <= maxLength ? plain : `${points.slice(0, maxLength - 1).join('')}…`;
}
