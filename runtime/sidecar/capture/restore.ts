/** The text that `iptables-restore --noflush` takes: from what is there to what should be, in one step a table. */

import { type Chain, chains, jump, line, type Rule, type Table, tables } from './rules.ts';
import { hasChain, rulesOf, type Saved } from './saved.ts';

/**
 * Makes our chains (empties those of an earlier run), fills them and puts the jumps first. Rules of others stay as they are; applied a second
 * time it changes nothing.
 */
export function restoreText(rules: readonly Rule[], saved: Saved): string {
  return tablesOf((table, own) => [
    ...own.map(({ name }) => `:${name} - [0:0]`),
    ...rules.filter(({ chain }) => chain.table === table).map(line),
    ...own.flatMap((chain) => withoutJumps(chain, saved)),
    ...own.map((chain) => jump(chain).replace(/^-A (\S+)/, '-I $1 1')),
  ]);
}

/** Takes away whatever of ours is there; empty when nothing is. */
export function removalText(saved: Saved): string {
  return tablesOf((table, own) => {
    const there = own.filter(({ name }) => hasChain(saved, table, name));
    return [
      ...there.flatMap((chain) => withoutJumps(chain, saved)),
      ...there.flatMap(({ name }) => [`-F ${name}`, `-X ${name}`]),
    ];
  });
}

function tablesOf(lines: (table: Table, own: readonly Chain[]) => readonly string[]): string {
  return tables
    .map((table) => ({
      table,
      changes: lines(
        table,
        chains.filter((chain) => chain.table === table),
      ),
    }))
    .filter(({ changes }) => changes.length > 0)
    .map(({ table, changes }) => [`*${table}`, ...changes, 'COMMIT', ''].join('\n'))
    .join('');
}

function withoutJumps({ table, name, from }: Chain, saved: Saved): readonly string[] {
  return rulesOf(saved, table, from)
    .filter((rule) => rule.endsWith(` -j ${name}`))
    .map((rule) => rule.replace(/^-A/, '-D'));
}
