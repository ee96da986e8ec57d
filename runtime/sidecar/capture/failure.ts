/** Why iptables refused, as one sentence that says what to do. */

import type { Backend } from './backend.ts';

/** How one program ended. */
export interface Ended {
  /** The program and its arguments. */
  readonly command: string;
  /** What it said, both streams. */
  readonly output: string;
  /** A code of the operating system when it could not run at all, such as `ENOENT` or `ETIMEDOUT`. */
  readonly fault?: string | undefined;
}

export type FailureKind =
  | 'no-program'
  | 'no-answer'
  | 'no-capability'
  | 'lock-file'
  | 'lock-held'
  | 'no-table'
  | 'no-backend'
  | 'no-match'
  | 'other';

interface Row {
  readonly kind: FailureKind;
  readonly sign: RegExp;
  readonly todo: string;
}

const allow =
  'allow them in this namespace (Pod Security "privileged", or an SCC that grants them), or set authBridgeMode: proxy-sidecar, which captures nothing';

/** The first row whose sign is in the output decides; the lock comes before permissions because it fails with the same words. */
const rows: readonly Row[] = [
  {
    kind: 'no-program',
    sign: /^ENOENT\b/,
    todo: 'the image lacks iptables for this backend: use the image of this release, or set IPTABLES_BACKEND to the other one',
  },
  {
    kind: 'no-answer',
    sign: /^ETIMEDOUT\b/,
    todo: 'it did not end in time: look at the load of the node; the container is started again',
  },
  {
    kind: 'lock-held',
    sign: /holding the xtables lock/i,
    todo: 'another program holds the lock of iptables; the container is started again',
  },
  {
    kind: 'lock-file',
    sign: /lock file/i,
    todo: 'the lock file cannot be written: mount an emptyDir at /run, or set XTABLES_LOCKFILE to a path that can be written',
  },
  {
    kind: 'no-capability',
    sign: /permission denied|operation not permitted|you must be root/i,
    todo: `the container needs user 0 and the capabilities NET_ADMIN and NET_RAW: ${allow}`,
  },
  {
    kind: 'no-match',
    sign: /couldn't load (match|target)|RULE_(APPEND|INSERT) failed|no chain\/target\/match/i,
    todo: 'the kernel or the image lacks a match or target that the rules need: load xt_owner, xt_mark, xt_conntrack, xt_REDIRECT, xt_nat and ipt_REJECT on the node',
  },
  {
    // The older backend says the same of both.
    kind: 'no-table',
    sign: /unable to initialize table/i,
    todo: `either the container lacks the capabilities NET_ADMIN and NET_RAW: ${allow}; or the node lacks the older tables: load iptable_nat and iptable_mangle on it`,
  },
  {
    kind: 'no-backend',
    sign: /table does not exist|insmod|protocol not supported|not supported by protocol|CHAIN_ADD failed|TABLE_ADD failed|could not fetch rule set|incompatible/i,
    todo: 'the kernel does not offer this backend with tables nat, mangle and filter: load nf_tables and nft_compat, or iptable_nat and iptable_mangle, on the node',
  },
];

/** One attempt that failed. */
export interface Failure {
  readonly kind: FailureKind;
  readonly backend: Backend;
  /** What failed, why and what to do. */
  readonly sentence: string;
}

/** What a program's end means. */
export function failureOf(backend: Backend, { command, output, fault }: Ended): Failure {
  const said = output.trim().replaceAll(/\s*\n\s*/g, ' | ');
  const found = rows.find(({ sign }) => sign.test(fault ?? said));
  const todo = found?.todo ?? 'see what it said';
  return { kind: found?.kind ?? 'other', backend, sentence: `${command} failed: ${todo} (${fault ?? said})` };
}

/** The failure to tell when every backend failed: that the kernel lacks one explains least. */
export function telling(failures: readonly Failure[]): Failure | undefined {
  return failures.find(({ kind }) => kind !== 'no-backend' && kind !== 'no-program') ?? failures[0];
}
