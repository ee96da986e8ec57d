/** Compares text with patterns in which `*` stands for any characters: in time that no text and no pattern can drive up. */

/** `*` is any number of characters, also none. A regular expression would try every way to share the text among several of them. */
export function isLike(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return pattern === text;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  // What stands between two stars may as well be where it comes first: nothing after it has less room then.
  const end = text.length - last.length;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

/** The same for one label or segment: a pattern that is nothing but `*` wants at least one character. */
export function isPartLike(pattern: string, part: string): boolean {
  return pattern === '*' ? part !== '' : isLike(pattern, part);
}
