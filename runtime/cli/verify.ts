/** `rossoctl verify`: the verdict on a signed card as the operator would reach it; offline. */

import { bindingScopes } from '../api/agent-card.ts';
import { trustDomainPattern } from '../api/agent-runtime.ts';
import type { VerifyOptions } from '../signature/verify.ts';
import { type Arguments, type Flag, valueOf } from './arguments.ts';
import { bundleOf } from './bundle-file.ts';
import { CliError, exitCodes } from './cli-error.ts';
import type { Command, Terminal } from './command.ts';
import { givenNamespace } from './input.ts';
import { readBytes, readInput } from './read-input.ts';
import { judged, tableOf } from './verdict.ts';

const flags: readonly Flag[] = [
  { name: 'bundle', value: 'FILE', help: 'trust bundle: PEM, a SPIFFE bundle document, or a ConfigMap (YAML or JSON)' },
  {
    name: 'bundle-key',
    value: 'KEY',
    help: 'key of that ConfigMap (default: bundle.crt, bundle.spiffe, or the only one)',
  },
  { name: 'trust-domain', value: 'NAME', help: 'trust domain whose identities may sign' },
  { name: 'now', value: 'TIME', help: 'judge as of this time, for example 2026-12-15T12:00:00Z (default: the clock)' },
  { name: 'scope', value: 'SCOPE', help: 'what of the identity must agree: trustDomain (default) or workload' },
  { name: 'namespace', short: 'n', value: 'NAME', help: 'namespace of the workload, with --scope workload' },
  { name: 'service-account', value: 'NAME', help: 'ServiceAccount of the workload, with --scope workload' },
  { name: 'profiles', value: 'WHICH', help: 'forms of the payload that count: all (default) or jcs' },
  { name: 'json', help: 'print the verdict as JSON' },
];

export const verifyCommand: Command = {
  name: 'verify',
  summary: 'verify the signature of an agent card, step by step; offline',
  usage: 'rossoctl verify CARD|- --bundle FILE --trust-domain NAME [flags]',
  help: `Reads a card as an agent serves it and verifies its signatures as the operator does: the certificate chain in the protected header
against the trust bundle, the SPIFFE ID, the key, and the signature over the canonical card. Prints each step with what it found
and why it failed. Nothing is fetched. See docs/signing.md for every reason.

Exit code: 0 verified and bound, 1 not, 2 wrong usage or unreadable input.`,
  flags,
  run,
};

async function run(given: Arguments, terminal: Terminal): Promise<number> {
  const card = cardFile(given);
  const bundleFile = required(given, 'bundle', 'the file with the trust bundle');
  if (card === '-' && bundleFile === '-') throw new CliError('standard input can be read once only');
  const settings = settingsOf(given);
  const bundle = bundleOf(await readInput(bundleFile, terminal.stdin), valueOf(given, 'bundle-key') ?? '');
  for (const warning of bundle.warnings) terminal.err(`trust bundle: ${warning}`);
  const result = judged(await readBytes(card, terminal.stdin), { bundle, ...settings });
  const { verdict } = result;
  terminal.out(given.switches.has('json') ? `${JSON.stringify(verdict, undefined, 2)}\n` : tableOf(result));
  return verdict.verified ? exitCodes.ok : exitCodes.denied;
}

/** The one positional argument of commands about a card. */
export function cardFile({ positionals }: Arguments): string {
  const [file, ...more] = positionals;
  if (!file) throw new CliError('name the file with the card, or - for standard input');
  if (more.length > 0) throw new CliError(`one card at a time; ${JSON.stringify(more[0])} is one too many`);
  return file;
}

/** Throws `CliError` saying what the flag is for. */
export function required(given: Arguments, name: string, what: string): string {
  const value = valueOf(given, name);
  if (value === undefined) throw new CliError(`name ${what} with --${name}`);
  return value;
}

function settingsOf(given: Arguments): Omit<VerifyOptions, 'bundle'> {
  const trustDomain = required(given, 'trust-domain', 'the trust domain whose identities may sign');
  if (!new RegExp(trustDomainPattern).test(trustDomain)) {
    throw new CliError(
      `--trust-domain: ${JSON.stringify(trustDomain)} is no trust domain: lower-case letters, digits, dots, dashes and underscores, without spiffe://`,
    );
  }
  const profiles = oneOf(given, 'profiles', ['all', 'jcs']);
  return { trustDomain, now: timeOf(valueOf(given, 'now')), profiles, ...workloadOf(given) };
}

function workloadOf(given: Arguments): Pick<VerifyOptions, 'workload'> {
  const scope = oneOf(given, 'scope', bindingScopes);
  if (scope === 'trustDomain') {
    const idle = ['namespace', 'service-account'].find((name) => valueOf(given, name) !== undefined);
    if (idle !== undefined) throw new CliError(`--${idle} says nothing without --scope workload`);
    return {};
  }
  const namespace = required(given, 'namespace', 'the namespace of the workload');
  givenNamespace(given);
  const serviceAccount = required(given, 'service-account', 'the ServiceAccount of the workload');
  if (!/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(serviceAccount)) {
    const allowed = 'lower-case letters, digits, dashes and dots';
    throw new CliError(
      `--service-account: ${JSON.stringify(serviceAccount)} is no name of a ServiceAccount: ${allowed}`,
    );
  }
  return { workload: { namespace, serviceAccount } };
}

/** The first is the default. */
function oneOf<T extends string>(given: Arguments, flag: string, values: readonly [T, ...(readonly T[])]): T {
  const value = valueOf(given, flag) ?? values[0];
  const found = values.find((each) => each === value);
  if (found === undefined) throw new CliError(`--${flag}: ${JSON.stringify(value)} is none of ${values.join(', ')}`);
  return found;
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** `Date` takes the thirtieth of February for the second of March, and hour 24 for the next day. */
function isOnCalendar(text: string): boolean {
  const [, date = '', hour = ''] = /^(.{10}).(..)/.exec(text) ?? [];
  return hour < '24' && new Date(`${date}T00:00:00Z`).toISOString().startsWith(date);
}

function timeOf(text: string | undefined): Date {
  if (text === undefined) return new Date();
  const time = new Date(text);
  if (!rfc3339.test(text) || Number.isNaN(time.getTime()) || !isOnCalendar(text)) {
    throw new CliError(`--now: ${JSON.stringify(text)} is no time; write 2026-12-15T12:00:00Z`);
  }
  return time;
}
