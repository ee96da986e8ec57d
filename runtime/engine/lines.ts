/** Splits a byte stream into the JSON values of its lines. */

const newline = 0x0a;
/** etcd holds at most 1.5 MiB an object; anything near this is no watch event. */
const longestLine = 16 * 1024 * 1024;

/** A line that is no JSON value, or has no end. Code `WATCH_MALFORMED`. */
export class MalformedLine extends Error {
  readonly code = 'WATCH_MALFORMED';
}

/** Feeds on chunks; calls back once for each complete line that is not empty. */
export function createLineParser(onValue: (value: unknown) => void): (chunk: Buffer) => void {
  let rest: Buffer[] = [];
  let restLength = 0;
  const emit = (end: Buffer): void => {
    const line = rest.length === 0 ? end : Buffer.concat([...rest, end]);
    rest = [];
    restLength = 0;
    if (line.length > 0) onValue(parse(line));
  };
  return (chunk) => {
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      emit(chunk.subarray(from, at));
      from = at + 1;
    }
    if (from === chunk.length) return;
    rest.push(chunk.subarray(from));
    restLength += chunk.length - from;
    if (restLength > longestLine) throw new MalformedLine(`a line of more than ${longestLine} bytes`);
  };
}

function parse(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'));
  } catch (cause) {
    throw new MalformedLine(`a line of ${line.length} bytes is no JSON`, { cause });
  }
}
