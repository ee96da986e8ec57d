/** The rows of a table in CSV, each with the line it stands on. */

/** One row: a text for each column, empty where nothing is said. */
export interface Row<Column extends string> {
  /** Line in the file, from 1. */
  readonly line: number;
  readonly cells: Readonly<Record<Column, string>>;
}

/**
 * Parses text whose first line names the columns, in any order. Empty lines are left out, cells are trimmed; there are no quotes, so no cell
 * holds a comma. Throws on a column that is unknown, missing or there twice, on a quote, and on a row of another length, naming the line.
 */
export function rowsOf<Column extends string>(text: string, columns: readonly Column[]): readonly Row<Column>[] {
  const [head = '', ...lines] = text.split(/\r?\n/);
  const names = cellsOf(head);
  const wrong = [
    ...names.filter((name) => !columns.some((column) => column === name)).map((name) => `unknown column "${name}"`),
    ...columns.filter((column) => !names.includes(column)).map((column) => `no column ${column}`),
    ...names.filter((name, at) => names.indexOf(name) < at).map((name) => `column ${name} is there twice`),
  ];
  if (wrong.length > 0) throw new Error(`line 1: ${wrong.join(', ')}; the columns are ${columns.join(', ')}`);
  return lines.flatMap((content, index) => {
    const line = index + 2;
    if (content.trim() === '') return [];
    if (content.includes('"')) {
      throw new Error(
        `line ${line}: a quote (") in ${content.trim()}: remove it; cells have no quotes, so none can hold a comma`,
      );
    }
    const cells = cellsOf(content);
    if (cells.length !== names.length) {
      throw new Error(
        `line ${line}: ${cells.length} cells for ${names.length} columns: write a comma for each that stays empty`,
      );
    }
    const entries = columns.map((column) => [column, cells[names.indexOf(column)] ?? '']);
    return [{ line, cells: Object.fromEntries(entries) as Readonly<Record<Column, string>> }];
  });
}

function cellsOf(line: string): readonly string[] {
  return line.split(',').map((cell) => cell.trim());
}
