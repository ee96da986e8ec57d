/** The demo's hands: runs kubectl and scripts of this checkout, and waits for what a person would wait for. */

import { spawn } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { reported } from './patience.ts';

const root = path.resolve(import.meta.dirname, '../..');

export interface Output {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `node script …` of this checkout. Never throws for an exit code; `show` passes its standard error through. */
export function runScript(
  script: string,
  args: readonly string[],
  options: { readonly input?: string; readonly show?: boolean } = {},
): Promise<Output> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...args], {
      cwd: root,
      stdio: ['pipe', 'pipe', options.show === true ? 'inherit' : 'pipe'],
    });
    let out = '';
    let err = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? 1, out, err }));
    child.stdin?.end(options.input ?? '');
  });
}

/** A failure of the demo itself: what was run and what it said. */
export class DemoFailure extends Error {}

export interface Cluster {
  /** Runs kubectl; throws `DemoFailure` when it fails. */
  kubectl(args: readonly string[], input?: string): Promise<string>;
  /** Runs kubectl for something that is to be refused; returns the words of the refusal. */
  refused(args: readonly string[], input?: string): Promise<string>;
  /** One object as JSON. */
  get<T>(args: readonly string[]): Promise<T>;
  /** Server-side apply of objects, under the field manager `demo`. */
  apply(objects: readonly unknown[]): Promise<string>;
}

export function cluster(lab: string): Cluster {
  const run = (args: readonly string[], input?: string) =>
    runScript('test/lab/main.ts', ['kubectl', '--name', lab, ...args], input === undefined ? {} : { input });
  const kubectl = async (args: readonly string[], input?: string): Promise<string> => {
    const { code, out, err } = await reported(`kubectl ${args.slice(0, 3).join(' ')}`, run(args, input));
    if (code !== 0) throw new DemoFailure(`kubectl ${args.join(' ')} failed with exit code ${code}:\n${err || out}`);
    return out;
  };
  return {
    kubectl,
    refused: async (args, input) => {
      const { code, out, err } = await run(args, input);
      if (code === 0) throw new DemoFailure(`kubectl ${args.join(' ')} was to be refused, and was not:\n${out}`);
      return err.trim();
    },
    get: async <T>(args: readonly string[]) => JSON.parse(await kubectl(['get', '-o', 'json', ...args])) as T,
    apply: (objects) =>
      kubectl(
        ['apply', '--server-side', '--field-manager=demo', '-f', '-'],
        objects.map((object) => stringify(object)).join('---\n'),
      ),
  };
}

/** Looks every 200 ms until `look` gives a value; throws `DemoFailure` naming what was waited for. */
export function until<T>(what: string, look: () => Promise<T | undefined>, seconds = 120): Promise<T> {
  return reported(`waiting for ${what}`, looked(what, look, seconds));
}

async function looked<T>(what: string, look: () => Promise<T | undefined>, seconds: number): Promise<T> {
  const end = performance.now() + seconds * 1000;
  for (;;) {
    const value = await look();
    if (value !== undefined) return value;
    if (performance.now() > end) throw new DemoFailure(`waited ${seconds} s in vain for ${what}`);
    await sleep(200);
  }
}
