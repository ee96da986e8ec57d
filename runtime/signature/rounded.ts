/** Integers of a card that are not what was written once they are read: JSON numbers are doubles (RFC 8785 section 3.2.2.3, RFC 7493 section 2.2). */

const most = 8;
/** A text, which is passed over as a whole, or a number. */
const tokens = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*/g;
const longInteger = /^-?[0-9]{16,}$/;

/** Of what is known to be strict JSON: the first few, as written and as they are read. */
export function roundedIntegers(body: Uint8Array): readonly (readonly [written: string, read: string])[] {
  const found: (readonly [string, string])[] = [];
  for (const [written] of new TextDecoder().decode(body).matchAll(tokens)) {
    if (!longInteger.test(written)) continue;
    const read = Number(written).toLocaleString('en', { useGrouping: false });
    if (read !== written) found.push([written, read]);
    if (found.length === most) break;
  }
  return found;
}
