/** What kubectl takes for a number in YAML: the rules of its parser, which are neither those of YAML 1.1 nor of 1.2. */

const special: ReadonlyMap<string, number> = new Map(
  ['inf', 'Inf', 'INF'].flatMap((name): [string, number][] => [
    [`.${name}`, Infinity],
    [`+.${name}`, Infinity],
    [`-.${name}`, -Infinity],
  ]),
);
const none: ReadonlySet<string> = new Set(['.nan', '.NaN', '.NAN']);

const integer = /^([-+]?)(0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)$/;
const float = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;
/** Begins with its dot: there an underscore must be between digits. */
const dotted = /^\.[0-9]+(_[0-9]+)*([eE][-+]?[0-9]+(_[0-9]+)*)?$/;

/**
 * The value of an unquoted scalar that begins with a digit, a sign or a dot; the text itself when it is no number: `e5`, `.`, `0x` and `1e400` are
 * text, `0o17`, `017` and `0b1111` are 15. Whole numbers of up to 64 bits are bigints.
 */
export function kubectlNumber(text: string): number | bigint | string {
  if (none.has(text)) return NaN;
  const known = special.get(text);
  if (known !== undefined) return known;
  const digits = text.replaceAll('_', '');
  if (text.startsWith('.')) return dotted.test(text) ? finite(digits, text) : text;
  // The sign may stand behind the mark of a binary number.
  const whole = wholeNumber(digits.replace(/^0b([-+])/, '$10b'));
  return whole ?? (float.test(digits) ? finite(digits, text) : text);
}

function wholeNumber(digits: string): bigint | undefined {
  const [, sign = '', body = ''] = integer.exec(digits) ?? [];
  if (body === '') return undefined;
  const size = BigInt(/^0[0-7]+$/.test(body) ? `0o${body.slice(1)}` : body);
  if (size > most(sign)) return undefined;
  return sign === '-' ? -size : size;
}

/** Of 64 bits; only without a sign is it an unsigned one. */
function most(sign: string): bigint {
  if (sign === '') return 2n ** 64n - 1n;
  return sign === '-' ? 2n ** 63n : 2n ** 63n - 1n;
}

/** What no double holds stays text. */
function finite(digits: string, text: string): number | string {
  const value = Number(digits);
  return Number.isFinite(value) ? value : text;
}
