/** The sidecar's process: the role in, signals handled, one exit code out. */

import { existsSync } from 'node:fs';
import { createLog } from '../engine/log.ts';
import { beginProgram } from '../engine/program.ts';
import type { Log } from '../engine/types.ts';
import { logLevels } from './environment.ts';
import type { Running } from './running.ts';

const usage = `usage: rossoctl-sidecar ROLE

Roles, by the name of the injected container that has each:
  proxy-init     redirects the pod's traffic to the proxy, reads the rules back, and ends
  envoy-proxy    supervises Envoy and decides the pod's calls
  spiffe-helper  keeps the pod's SPIFFE identity in files
  client-registration  registers the agent at Keycloak, and keeps its client in files

Everything else is told by the environment, which the operator's webhook writes.
Exit codes: 0 ended as asked, 1 failed, 2 usage.
`;

/** Each loads what it needs and nothing else: proxy-init has 64 MiB and is in the way of every start. */
const roles: Readonly<Record<string, (log: Log) => Promise<Running | number>>> = {
  'proxy-init': async (log) => {
    const { proxyInit } = await import('./capture/apply.ts');
    return proxyInit(process.env, log);
  },
  'envoy-proxy': async (log) => {
    const [{ startProxy }, { proxySettings }] = await Promise.all([import('./proxy.ts'), import('./settings.ts')]);
    return startProxy(proxySettings(process.env), {
      log,
      ipv6: existsSync('/proc/net/if_inet6'),
      memoryBytes: process.constrainedMemory(),
    });
  },
  'spiffe-helper': async (log) => {
    const [{ startHelper }, { helperSettings }] = await Promise.all([import('./helper.ts'), import('./settings.ts')]);
    return startHelper(helperSettings(process.env), log);
  },
  'client-registration': async (log) => {
    const [{ startRegistrar }, { registrationSettings }] = await Promise.all([
      import('./registrar.ts'),
      import('./settings.ts'),
    ]);
    return startRegistrar(registrationSettings(process.env), { log });
  },
};

async function main([role = '', ...more]: readonly string[]): Promise<void> {
  if (role === '--help' || role === '-h') {
    process.stdout.write(usage);
    return;
  }
  const run = Object.hasOwn(roles, role) ? roles[role] : undefined;
  if (run === undefined || more.length > 0) {
    const wrong =
      run === undefined ? `${JSON.stringify(role)} is no role` : `${JSON.stringify(more[0])} is one word too many`;
    process.stderr.write(`rossoctl-sidecar: ${wrong}\n\n${usage}`);
    process.exit(2);
  }
  const level = logLevels.find((known) => known === process.env['LOG_LEVEL']) ?? 'info';
  const log = createLog({ name: role, level });
  const program = beginProgram(log);
  const fail = (message: string, error: unknown): never => {
    log.error(message, { error });
    process.exit(1);
  };
  const begun = await run(log).catch((error: unknown) => fail(`${role} cannot start`, error));
  if (typeof begun === 'number') process.exit(begun);
  program.stopsBy(() => begun.stop());
  const reason = await begun.failed;
  if (!program.isStopping) fail(`${role} cannot go on`, reason);
}

await main(process.argv.slice(2));
