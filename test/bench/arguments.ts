/** Command line of `npm run bench`: which scenarios, how large, and where the report goes. */

import { parseArgs } from 'node:util';

export interface Arguments {
  /** Empty: all. */
  readonly only: readonly string[];
  readonly isQuick: boolean;
  /** Undefined: the report is printed only. */
  readonly out: string | undefined;
  readonly wantsHelp: boolean;
}

/** A command line that cannot be used; the message says what is allowed. */
export class BenchUsageError extends Error {}

const defaultOut = 'docs/benchmarks.md';

export function usage(names: readonly string[]): string {
  return `usage: npm run bench -- [--only NAME,…] [--quick] [--out FILE]

Measures the operator, bundled, beside a real etcd and kube-apiserver, and the sidecar with a real Envoy; writes the figures with their goals.

  --only NAME,…  only these scenarios: ${names.join(', ')}
  --quick        everything at a tenth of the size, to see that the benchmark itself works
  --out FILE     where the report goes (default ${defaultOut}; with --only or --quick it is printed only)
`;
}

/** Throws `BenchUsageError`. */
export function parseArguments(argv: readonly string[], names: readonly string[]): Arguments {
  const { values } = parsed(argv);
  const only = (values.only ?? '').split(',').filter((name) => name !== '');
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new BenchUsageError(`no scenario ${JSON.stringify(unknown)}; there are ${names.join(', ')}`);
  const isQuick = values.quick === true;
  const isPartial = isQuick || only.length > 0;
  return { only, isQuick, out: values.out ?? (isPartial ? undefined : defaultOut), wantsHelp: values.help === true };
}

function parsed(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        only: { type: 'string' },
        quick: { type: 'boolean' },
        out: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new BenchUsageError(error instanceof Error ? error.message : String(error));
  }
}
