// Starts a Keycloak of a test's own: in memory, on free ports, gone with the process that started it.
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { endProcesses, startComponent, untilReady } from '../component.ts';
import { makeOwnedDir, sweepAbandonedDirs } from '../owned-dir.ts';
import { findFreePort } from '../ports.ts';
import { signalProcess } from '../process-identity.ts';
import { reportToStderr } from '../progress.ts';
import { type KeycloakAdmin, keycloakAdmin } from './admin.ts';
import { ensureKeycloak } from './distribution.ts';

/** A running Keycloak. It ends with `stop()` or with the process that started it, whichever comes first. */
export interface Keycloak {
  /** Without a trailing slash: `http://127.0.0.1:20001`. */
  readonly url: string;
  readonly logPath: string;
  readonly admin: KeycloakAdmin;
  /** The kernel stops scheduling it: it accepts connections and answers nothing. */
  freeze(): void;
  thaw(): void;
  /** Ends the server; what it kept in memory is gone, its port is free. */
  stop(): Promise<void>;
}

export interface KeycloakOptions {
  /** Where to listen. Default 127.0.0.1. */
  readonly host?: string;
  /** PEM files of authorities that it trusts, besides Java's own, such as that of a SPIFFE bundle's endpoint. */
  readonly trusted?: readonly string[];
}

/** A busy machine has been seen to take four minutes over what takes 20 seconds on a quiet one. */
const readyTimeoutMs = 600_000;

/** Starts it and resolves when it is ready by its own word. The first time it is fetched and built. */
export async function startKeycloak({ host = '127.0.0.1', trusted = [] }: KeycloakOptions = {}): Promise<Keycloak> {
  const home = await ensureKeycloak(reportToStderr);
  sweepAbandonedDirs();
  const dir = makeOwnedDir('keycloak');
  const [port, management] = [await findFreePort(), await findFreePort()];
  const secret = randomBytes(24).toString('base64url');
  const logPath = join(dir, 'keycloak.log');
  mkdirSync(join(dir, 'tmp'));
  const process = startComponent({
    component: 'keycloak',
    program: 'env',
    parameters: [
      ...environment(secret),
      'java',
      ...javaOptions(home, dir),
      ...serverOptions({ host, port, management, trusted }),
    ],
    logPath,
    cwd: dir,
    endsWith: 'parent',
  });
  const url = `http://${host}:${port}`;
  const stop = async (): Promise<void> => {
    signalProcess(process, 'SIGCONT');
    await endProcesses([process], 0);
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    const ready = () => isReady(`http://${host}:${management}/health/ready`);
    await untilReady(process, ready, { timeoutMs: readyTimeoutMs, intervalMs: 500 });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    logPath,
    admin: keycloakAdmin(url, { id: bootstrapClient, secret }),
    freeze: () => signalProcess(process, 'SIGSTOP'),
    thaw: () => signalProcess(process, 'SIGCONT'),
    stop,
  };
}

const bootstrapClient = 'lab-bootstrap';

// By the environment, which no list of processes shows.
function environment(secret: string): readonly string[] {
  return [`KC_BOOTSTRAP_ADMIN_CLIENT_ID=${bootstrapClient}`, `KC_BOOTSTRAP_ADMIN_CLIENT_SECRET=${secret}`];
}

// What bin/kc.sh would say. It is left out because it stays beside Java, which would outlive it.
function javaOptions(home: string, dir: string): readonly string[] {
  const opened = [
    'java.base/java.util',
    'java.base/java.util.concurrent',
    'java.base/java.security',
    'java.base/java.lang',
  ];
  return [
    '-Xms128m',
    '-Xmx512m',
    '-XX:MaxMetaspaceSize=256m',
    // Starts in half the time, and no test lives long enough to miss what it leaves out.
    '-XX:TieredStopAtLevel=1',
    '-XX:+UseSerialGC',
    '-Dfile.encoding=UTF-8',
    `-Djava.io.tmpdir=${join(dir, 'tmp')}`,
    '-Djava.util.concurrent.ForkJoinPool.common.threadFactory=io.quarkus.bootstrap.forkjoin.QuarkusForkJoinWorkerThreadFactory',
    '-Djava.util.logging.manager=org.jboss.logmanager.LogManager',
    '-Dpicocli.disable.closures=true',
    '-Dquarkus-log-max-startup-records=10000',
    `-Dkc.home.dir=${home}`,
    `-Djboss.server.config.dir=${join(home, 'conf')}`,
    ...opened.map((what) => `--add-opens=${what}=ALL-UNNAMED`),
    '-cp',
    join(home, 'lib', 'quarkus-run.jar'),
    'io.quarkus.bootstrap.runner.QuarkusEntryPoint',
  ];
}

interface Listening {
  readonly host: string;
  readonly port: number;
  readonly management: number;
  readonly trusted: readonly string[];
}

function serverOptions({ host, port, management, trusted }: Listening): readonly string[] {
  return [
    'start',
    '--optimized',
    '--http-enabled=true',
    '--hostname-strict=false',
    `--http-host=${host}`,
    `--http-port=${port}`,
    `--http-management-port=${management}`,
    '--cache=local',
    ...(trusted.length === 0 ? [] : [`--truststore-paths=${trusted.join(',')}`]),
  ];
}

// The port is open and the log says "Listening" long before it answers.
async function isReady(url: string): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(5000) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}
