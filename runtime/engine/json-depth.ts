/** How deep JSON text is nested, without parsing it: whoever recurses through the value must be safe from it. */

const quote = 0x22;
const backslash = 0x5c;

/** Whether brackets nest deeper than `limit`. One pass, no allocation; text that is not JSON gets some answer. */
export function depthExceeds(json: Uint8Array, limit: number): boolean {
  const end = json.length;
  if (end <= limit * 2) return false;
  let depth = 0;
  let at = 0;
  while (at < end) {
    const byte = json[at];
    if (byte === quote) {
      at += 1;
      while (at < end && json[at] !== quote) at += json[at] === backslash ? 2 : 1;
    } else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      if (depth > limit) return true;
    } else if (byte === 0x7d || byte === 0x5d) {
      depth -= 1;
    }
    at += 1;
  }
  return false;
}
