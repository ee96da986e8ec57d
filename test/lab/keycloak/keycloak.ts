// Starts a Keycloak of a test's own: on free ports, gone with the process that started it, and what it kept with it.
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Component, endProcesses, startComponent, untilReady } from '../component.ts';
import { makeOwnedDir, sweepAbandonedDirs } from '../owned-dir.ts';
import { findFreePort } from '../ports.ts';
import { signalProcess } from '../process-identity.ts';
import { reportToStderr } from '../progress.ts';
import { type KeycloakAdmin, keycloakAdmin } from './admin.ts';
import { keycloakCommand } from './command.ts';
import { ensureKeycloak } from './distribution.ts';

/** A running Keycloak. It ends with `stop()` or with the process that started it, whichever comes first. */
export interface Keycloak {
  /** Without a trailing slash: `http://127.0.0.1:20001`. */
  readonly url: string;
  /** By HTTPS, if it has a certificate for that: `https://localhost:20002`. */
  readonly secureUrl: string | undefined;
  readonly logPath: string;
  readonly admin: KeycloakAdmin;
  /** The kernel stops scheduling it: it accepts connections and answers nothing. */
  freeze(): void;
  thaw(): void;
  /** Ends the server: its port is free, and refuses connections. Realms and keys stay only if they are kept (`isKept`). */
  end(): Promise<void>;
  /** Starts it again where it was, and resolves when it is ready. */
  start(): Promise<void>;
  /** Ends the server for good; nothing of it is left. */
  stop(): Promise<void>;
}

export interface KeycloakOptions {
  /** Where to listen. Default 127.0.0.1. */
  readonly host?: string;
  /** What it calls itself in tokens, whatever it is asked by: `http://keycloak.idp.svc:8080`. Default: as it is asked. */
  readonly hostname?: string;
  /** Realms and keys outlive `end()`. Default false: they are in memory. */
  readonly isKept?: boolean;
  /** PEM by which it serves HTTPS beside HTTP, as `localhost`. Default: it does not. */
  readonly serving?: { readonly certificate: string; readonly key: string };
  /** PEM files of authorities that it trusts, besides Java's own, such as that of a SPIFFE bundle's endpoint. */
  readonly trusted?: readonly string[];
}

/** A busy machine has been seen to take four minutes over what takes 20 seconds on a quiet one. */
const readyTimeoutMs = 600_000;

/** Starts it and resolves when it is ready by its own word. The first time it is fetched and built. */
export async function startKeycloak(options: KeycloakOptions = {}): Promise<Keycloak> {
  const { host = '127.0.0.1', hostname, serving, trusted = [], isKept = false } = options;
  const home = await ensureKeycloak(reportToStderr);
  sweepAbandonedDirs();
  const dir = makeOwnedDir('keycloak');
  const [port, management] = [await findFreePort(), await findFreePort()];
  const secret = randomBytes(24).toString('base64url');
  const logPath = join(dir, 'keycloak.log');
  mkdirSync(join(dir, 'tmp'));
  const secure = serving === undefined ? undefined : { port: await findFreePort(), ...writeServing(dir, serving) };
  const database = isKept ? join(dir, 'database') : undefined;
  const java = keycloakCommand({ home, dir }, { host, hostname, port, secure, management, trusted, database });
  const launch = (bootstrap: readonly string[]): Component =>
    startComponent({
      component: 'keycloak',
      program: 'env',
      parameters: [...bootstrap, ...java],
      logPath,
      cwd: dir,
      endsWith: 'parent',
    });
  const untilUp = (started: Component): Promise<void> =>
    untilReady(started, () => isReady(`http://${host}:${management}/health/ready`), {
      timeoutMs: readyTimeoutMs,
      intervalMs: 500,
    });
  let process = launch(environment(secret));
  const end = async (): Promise<void> => {
    signalProcess(process, 'SIGCONT');
    await endProcesses([process], 0);
  };
  const stop = async (): Promise<void> => {
    await end();
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    await untilUp(process);
  } catch (error) {
    await stop();
    throw error;
  }
  const url = `http://${host}:${port}`;
  return {
    url,
    secureUrl: secure === undefined ? undefined : `https://localhost:${secure.port}`,
    logPath,
    admin: keycloakAdmin(url, { id: bootstrapClient, secret }, hostname),
    freeze: () => signalProcess(process, 'SIGSTOP'),
    thaw: () => signalProcess(process, 'SIGCONT'),
    end,
    start: async () => {
      // Who may administer it is among what it kept; asked to make that client again it says that there is one.
      process = launch(isKept ? [] : environment(secret));
      await untilUp(process);
    },
    stop,
  };
}

type Serving = NonNullable<KeycloakOptions['serving']>;

/** The same as files. */
function writeServing(dir: string, { certificate, key }: Serving): Serving {
  const files = { certificate: join(dir, 'serving.crt'), key: join(dir, 'serving.key') };
  writeFileSync(files.certificate, certificate);
  writeFileSync(files.key, key, { mode: 0o600 });
  return files;
}

const bootstrapClient = 'lab-bootstrap';

// By the environment, which no list of processes shows.
function environment(secret: string): readonly string[] {
  return [`KC_BOOTSTRAP_ADMIN_CLIENT_ID=${bootstrapClient}`, `KC_BOOTSTRAP_ADMIN_CLIENT_SECRET=${secret}`];
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
