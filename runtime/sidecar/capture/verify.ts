/** Compares what was read back with what was meant. */

import { chains, jump, line, type Rule } from './rules.ts';
import { rulesOf, type Saved } from './saved.ts';

/**
 * What is not as it should be, a sentence each; empty when every chain holds exactly its rules in their order and is the first thing its built-in
 * chain does.
 */
export function deviations(rules: readonly Rule[], saved: Saved): readonly string[] {
  return chains.flatMap((chain) => {
    const { table, name, from } = chain;
    const wanted = rules.filter((rule) => rule.chain === chain).map(line);
    const found = rulesOf(saved, table, name);
    const at = wanted.findIndex((each, index) => found[index] !== each);
    const first = rulesOf(saved, table, from)[0];
    return [
      ...(at < 0 ? [] : [`table ${table}: ${wanted[at]} is missing; found ${found[at] ?? 'no rule'} in its place`]),
      ...(found.length > wanted.length ? [`table ${table}: chain ${name} holds a rule too many`] : []),
      ...(first === jump(chain) ? [] : [`table ${table}: ${from} begins with ${first ?? 'no rule'}, not with ours`]),
    ];
  });
}
