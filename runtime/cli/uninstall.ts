/** `rossoctl uninstall`: leaves workloads running and nothing of the platform on them, also when the operator is gone. */

import { install } from '../api/names.ts';
import type { Log, ObjectRef } from '../engine/types.ts';
import { instanceText, nameList } from '../operator/option-values.ts';
import { ChoiceError, type Chosen, textOf as installText } from '../operator/installs.ts';
import { textOf } from '../operator/traces.ts';
import { type Arguments, valueOf } from './arguments.ts';
import { CliError, exitCodes } from './cli-error.ts';
import type { Command, Terminal } from './command.ts';
import { clusterFlags, connectionOf } from './connection.ts';

export const uninstallCommand: Command = {
  name: 'uninstall',
  summary: 'take the platform out of a cluster, also when its operator is gone',
  usage: 'rossoctl uninstall [--yes] [flags]',
  help: `Without --yes it only says what it would take away. With it, in this order: webhook registrations and admission policies, the operator,
every AgentRuntime and AgentCard, the operator's NetworkPolicies. Workloads stay and are rolled out once without sidecars and labels:
this command does for that time what the operator would. What manifests or Pulumi installed (CRDs, RBAC, the namespace) is then
removed with them: kubectl delete -R -f DIR, or pulumi destroy.

Of several installs in a cluster it takes out the one that is asked for, in the namespaces that it watches; what they share stays.

Exit code: 0 nothing is left, or nothing was asked to be done, 1 something is left, 2 wrong usage or the cluster cannot be read.`,
  flags: [
    { name: 'yes', help: 'do it' },
    { name: 'namespace', short: 'n', value: 'NAME', help: `namespace of the operator (default ${install.namespace})` },
    { name: 'instance', value: 'NAME', help: 'which of several installs of the cluster' },
    {
      name: 'namespaces',
      value: 'A,B,…',
      help: 'the namespaces that it watches, where neither its operator nor its webhooks are there to tell',
    },
    { name: 'within', value: 'SECONDS', help: 'how long resources are waited for (default 300)' },
    ...clusterFlags,
  ],
  run,
};

async function run(given: Arguments, terminal: Terminal): Promise<number> {
  const [unexpected] = given.positionals;
  if (unexpected !== undefined) throw new CliError(`unexpected argument ${unexpected}; uninstall takes flags only`);
  const within = Number(valueOf(given, 'within') ?? 300);
  if (!(within > 0 && within <= 86_400))
    throw new CliError('--within: a number of seconds from 1 to 86400 is expected');
  const { createUninstaller } = await import('../operator/uninstall.ts');
  const uninstaller = createUninstaller({
    connection: await connectionOf(given),
    asked: {
      namespace: valueOf(given, 'namespace'),
      instance: checked(given, 'instance', instanceText),
      namespaces: checked(given, 'namespaces', nameList),
    },
    log: failuresTo(terminal),
    report: (line) => terminal.err(line),
    withinMs: within * 1000,
  });
  try {
    const found = await uninstaller.find();
    const { gates, operators, resources, networkPolicies } = found;
    const every = [...gates, ...operators, ...resources, ...networkPolicies];
    tellOthers(found.install, terminal);
    if (every.length === 0) {
      const where = found.install.others.length === 0 ? 'the platform is left in this cluster' : 'this install is left';
      terminal.out(`nothing of ${where} but what its manifests hold\n`);
      return exitCodes.ok;
    }
    if (!given.switches.has('yes')) {
      terminal.out(`${every.map(textOf).join('\n')}\n`);
      terminal.err(`${every.length} objects would be deleted; do it with --yes`);
      return exitCodes.ok;
    }
    return told(await uninstaller.run(found), terminal);
  } catch (error) {
    if (error instanceof ChoiceError) throw new CliError(error.message);
    if (error instanceof Error && 'code' in error)
      throw new CliError(`the cluster cannot be read or changed: ${error.message}`);
    throw error;
  } finally {
    await uninstaller.close();
  }
}

/** The value of a flag, refused with what is allowed. */
function checked<T>(given: Arguments, name: string, parse: (text: string) => T): T | undefined {
  const value = valueOf(given, name);
  try {
    return value === undefined ? undefined : parse(value);
  } catch (error) {
    throw new CliError(`--${name}: ${value ?? ''}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Deleting the manifests of one install can take from the others what they need. */
function tellOthers({ namespaces, others }: Chosen, terminal: Terminal): void {
  if (namespaces !== undefined) {
    const none = 'none, others watch all of them, so that their agents stay as they are';
    terminal.err(`namespaces of this install: ${namespaces.length === 0 ? none : namespaces.join(', ')}`);
  }
  if (others.length === 0) return;
  terminal.err(
    `there is ${others.map(installText).join(', and ')}: keep what they share with this one, the CRDs and signature-label-protection`,
  );
}

function told(left: readonly ObjectRef[], terminal: Terminal): number {
  if (left.length === 0) {
    terminal.out('nothing is left but what the manifests hold: kubectl delete -R -f DIR, or pulumi destroy\n');
    return exitCodes.ok;
  }
  terminal.out(`${left.map(textOf).join('\n')}\n`);
  terminal.err(
    `${left.length} objects are left; the lines above say why. Run it again, with a longer --within if it only takes long`,
  );
  return exitCodes.denied;
}

/** Of the operator's log only what went wrong. */
function failuresTo(terminal: Terminal): Log {
  const tell = (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
    const { namespace, name, reason } = fields;
    terminal.err([message, namespace, name, reason].filter((part) => typeof part === 'string').join(': '));
  };
  const log: Log = { debug: () => {}, info: () => {}, warn: tell, error: tell, child: () => log };
  return log;
}
