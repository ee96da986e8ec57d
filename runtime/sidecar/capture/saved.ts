/** Reads what `iptables-save` prints: which rules and chains each table holds. */

/** Table → its lines that make something: `:CHAIN POLICY […]` and `-A CHAIN …`, in order. */
export type Saved = ReadonlyMap<string, readonly string[]>;

/** Comments, counters of packets and `COMMIT` are left out; a line that is no such line is ignored. */
export function savedTables(text: string): Saved {
  const tables = new Map<string, string[]>();
  let lines: string[] = [];
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (line.startsWith('*')) {
      lines = [];
      tables.set(line.slice(1), lines);
    } else if (/^(:|-A )/.test(line)) lines.push(line);
  }
  return tables;
}

/** The rules of one chain, in order. */
export function rulesOf(saved: Saved, table: string, chain: string): readonly string[] {
  return (saved.get(table) ?? []).filter((line) => line.startsWith(`-A ${chain} `));
}

/** Whether the chain is there. */
export function hasChain(saved: Saved, table: string, chain: string): boolean {
  return (saved.get(table) ?? []).some((line) => line.startsWith(`:${chain} `));
}
