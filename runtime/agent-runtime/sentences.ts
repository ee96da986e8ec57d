/** Several messages as one text for a condition: bounded, each ended like a sentence. */

const shown = 10;

export function sentences(texts: readonly string[]): string {
  const ended = texts.slice(0, shown).map((text) => (/[.!?]$/.test(text) ? text : `${text}.`));
  return `${ended.join(' ')}${texts.length > shown ? ' There are more.' : ''}`;
}
