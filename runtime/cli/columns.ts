/** Cells → lines in columns, none of which grows beyond what a screen bears. */

/** A longer cell is cut: one name must not push every row apart. */
const widest = 40;

/** A function that writes a row; `rows` are all that will be written, the header among them. */
export function columns(rows: readonly (readonly string[])[]): (cells: readonly string[]) => string {
  const widths: number[] = [];
  for (const cells of rows) {
    for (const [at, cell] of cells.entries()) widths[at] = Math.max(widths[at] ?? 0, cut(cell).length);
  }
  return (cells) =>
    cells
      .map((cell, at) => cut(cell).padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd();
}

function cut(cell: string): string {
  return cell.length <= widest ? cell : `${cell.slice(0, widest - 1)}…`;
}
