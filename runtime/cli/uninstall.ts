/** `rossoctl uninstall`: leaves workloads running and nothing of the platform on them, also when the operator is gone. */

import { install } from '../api/names.ts';
import type { Log, ObjectRef } from '../engine/types.ts';
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

Exit code: 0 nothing is left, or nothing was asked to be done, 1 something is left, 2 wrong usage or the cluster cannot be read.`,
  flags: [
    { name: 'yes', help: 'do it' },
    { name: 'namespace', short: 'n', value: 'NAME', help: `namespace of the operator (default ${install.namespace})` },
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
    namespace: valueOf(given, 'namespace') ?? install.namespace,
    log: failuresTo(terminal),
    report: (line) => terminal.err(line),
    withinMs: within * 1000,
  });
  try {
    const found = await uninstaller.find();
    const { gates, operator, resources, networkPolicies } = found;
    const every = [...gates, ...(operator === undefined ? [] : [operator]), ...resources, ...networkPolicies];
    if (every.length === 0) {
      terminal.out('nothing of the platform is left in this cluster but what its manifests hold\n');
      return exitCodes.ok;
    }
    if (!given.switches.has('yes')) {
      terminal.out(`${every.map(textOf).join('\n')}\n`);
      terminal.err(`${every.length} objects would be deleted; do it with --yes`);
      return exitCodes.ok;
    }
    return told(await uninstaller.run(found), terminal);
  } catch (error) {
    if (error instanceof Error && 'code' in error)
      throw new CliError(`the cluster cannot be read or changed: ${error.message}`);
    throw error;
  } finally {
    await uninstaller.close();
  }
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
