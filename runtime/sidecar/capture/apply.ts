/** The role `proxy-init`: writes the rules into the pod's network namespace, reads them back, and says what it did or why it could not. */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { EngineError } from '../../engine/errors.ts';
import type { Log } from '../../engine/types.ts';
import { type Backend, backendChoice, backends, type Evidence, isNode } from './backend.ts';
import { type CaptureSettings, captureSettings } from './capture-settings.ts';
import { type Ended, type Failure, failureOf, telling } from './failure.ts';
import { type Ipv6, ipv6In } from './ipv6.ts';
import { removalText, restoreText } from './restore.ts';
import { captureRules, type Family } from './rules.ts';
import { savedTables } from './saved.ts';
import { deviations } from './verify.ts';

/** The traffic is not captured; the message says why and what to do. Code `CAPTURE_FAILED`. */
export class CaptureFailed extends EngineError {
  constructor(message: string) {
    super('CAPTURE_FAILED', message);
  }
}

/** Runs the role and returns the process's exit code: 0 only when every rule was read back, so that no application starts uncaptured. */
export function proxyInit(env: Readonly<Record<string, string | undefined>>, log: Log): 0 | 1 {
  try {
    capture(captureSettings(env), log);
    return 0;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    log.error(`traffic not captured: ${error.message}`, { code: error.code });
    return 1;
  }
}

/** Captures with the first backend that takes the rules. What an attempt left behind, now or in an earlier run, is taken away. */
function capture(settings: CaptureSettings, log: Log): void {
  const evidence: Evidence = { wanted: settings.backend, saved: savedRules(), modules: contents('/proc/modules') };
  if (isNode(evidence)) {
    throw new CaptureFailed("this is a node's own network, not a pod's: run the pod without hostNetwork");
  }
  const { order, because } = backendChoice(evidence);
  const failures: Failure[] = [];
  for (const backend of order) {
    const outcome = captureWith(backend, settings);
    if ('rules' in outcome) {
      for (const other of backends) if (other !== backend) clear(other);
      const { ipv6, rules, warning } = outcome;
      if (warning !== undefined) log.warn('IPv6 is not captured: the pod has no IPv6 address', { why: warning });
      log.info('traffic captured', {
        backend,
        because: failures.length > 0 ? 'the other refused' : because,
        ipv6,
        rules,
      });
      return;
    }
    log.warn('backend refused the rules', { backend, why: outcome.sentence });
    failures.push(outcome);
    clear(backend);
  }
  throw new CaptureFailed(telling(failures)?.sentence ?? 'no backend was tried');
}

interface Captured {
  readonly ipv6: Ipv6;
  /** Rules of both families, without the jumps. */
  readonly rules: number;
  /** Why IPv6, which the pod does not use, has no rules. */
  readonly warning?: string;
}

function captureWith(backend: Backend, settings: CaptureSettings): Captured | Failure {
  const ipv6 = ipv6In(contents('/proc/net/if_inet6'));
  const v4 = captureFamily(backend, 'ipv4', settings);
  if (typeof v4 !== 'number') return v4;
  if (ipv6 === 'off') return { ipv6, rules: v4 };
  const v6 = captureFamily(backend, 'ipv6', settings);
  if (typeof v6 === 'number') return { ipv6, rules: v4 + v6 };
  return ipv6 === 'unused' ? { ipv6, rules: v4, warning: v6.sentence } : v6;
}

/** How many rules the family has now, each of them read back. */
function captureFamily(backend: Backend, family: Family, settings: CaptureSettings): number | Failure {
  const rules = captureRules(settings, family);
  const before = save(backend, family);
  if ('command' in before) return failureOf(backend, before);
  const restored = restore(backend, family, restoreText(rules, savedTables(before.text)));
  if (restored !== undefined) return failureOf(backend, restored);
  const after = save(backend, family);
  if ('command' in after) return failureOf(backend, after);
  const [wrong] = deviations(rules, savedTables(after.text));
  if (wrong === undefined) return rules.length;
  const sentence = `${family} rules read back are not those written: ${wrong}; something else writes rules in this pod, or the kernel ignored ours`;
  return { kind: 'other', backend, sentence };
}

/** Takes our chains out of a backend that is not used; what cannot be read or removed there holds nothing of ours. */
function clear(backend: Backend): void {
  for (const family of ['ipv4', 'ipv6'] as const) {
    const there = save(backend, family);
    const text = 'text' in there ? removalText(savedTables(there.text)) : '';
    if (text !== '') restore(backend, family, text);
  }
}

function savedRules(): Evidence['saved'] {
  const textOf = (backend: Backend) => {
    const saved = save(backend, 'ipv4');
    return 'text' in saved ? saved.text : undefined;
  };
  return { nft: textOf('nft'), legacy: textOf('legacy') };
}

const prefix = { ipv4: 'iptables', ipv6: 'ip6tables' } as const;
const timeoutMs = 30_000;
/** How long to wait for another program that holds the lock, seconds. */
const lockSeconds = 10;

function save(backend: Backend, family: Family): { readonly text: string } | Ended {
  return run(`${prefix[family]}-${backend}-save`, []);
}

/** Undefined when all of it was taken; else how it ended. */
function restore(backend: Backend, family: Family, text: string): Ended | undefined {
  const ended = run(`${prefix[family]}-${backend}-restore`, ['--noflush', '--wait', String(lockSeconds)], text);
  return 'command' in ended ? ended : undefined;
}

function run(program: string, args: readonly string[], input = ''): { readonly text: string } | Ended {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    input,
    encoding: 'utf8',
    timeout: timeoutMs,
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status === 0 && error === undefined) return { text: stdout };
  const fault = error !== undefined && 'code' in error ? String(error.code) : undefined;
  return { command: [program, ...args].join(' '), output: `${stderr}\n${stdout}`, fault };
}

/** A file of `/proc`, or undefined where the kernel has none of that name. */
function contents(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
