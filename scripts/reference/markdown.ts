/** The Markdown that reference pages are made of: pages, tables and code, with what would break them escaped. */

/** A page: its title, what is said first, and its parts, each a block of Markdown. */
export interface Page {
  readonly title: string;
  readonly intro: string;
  readonly parts: readonly string[];
}

const banner = '<!-- Generated from the sources by `npm run gen`; do not edit. -->';

/** The text of a page's file. */
export function pageText({ title, intro, parts }: Page): string {
  return `${[`# ${title}`, banner, intro, ...parts].join('\n\n')}\n`;
}

/** A table; every row has as many cells as there are columns. Line ends in cells become blanks. */
export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(columns), `|${columns.map(() => '---|').join('')}`, ...rows.map(line)].join('\n');
}

function cell(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' ').replaceAll('|', '\\|');
}

/** Text as code; empty text stays empty. */
export function code(text: string): string {
  if (text === '') return '';
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}

/** A list of words as code. */
export function codes(words: readonly string[]): string {
  return words.map(code).join(', ');
}

/** A block of text as it is. */
export function block(text: string): string {
  return ['```', text.trimEnd(), '```'].join('\n');
}

/** The text as a sentence: with a capital and a full stop. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '') return '';
  return `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}${/[.:!?…]$/.test(trimmed) ? '' : '.'}`;
}
