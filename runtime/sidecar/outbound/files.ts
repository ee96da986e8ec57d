/** Follows the directory of the agent's OAuth client: a mounted Secret that may come late, change, and go. */

import { open, realpath } from 'node:fs/promises';
import path from 'node:path';
import type { Live, Log } from '../../engine/types.ts';
import { type WatchDirectoryOptions, watchDirectory } from '../../engine/watch-directory.ts';
import { credentialFiles, type Credentials, credentialsOf } from './credentials.ts';

export interface CredentialsWatchOptions extends WatchDirectoryOptions {
  readonly directory: string;
  readonly log: Log;
}

export interface LiveCredentials extends Live<Credentials> {
  stop(): void;
}

const largest = 16_384;
const defaultPollMs = 10_000;

/** Reads the files and follows them; that they are missing is a state and no failure. */
export async function openCredentials(options: CredentialsWatchOptions): Promise<LiveCredentials> {
  const { directory, log } = options;
  const listeners = new Set<(value: Credentials) => void>();
  let current = await readCredentials(directory);
  let turn = Promise.resolve();
  if (current.kind === 'missing') log.info('no OAuth client yet', { why: current.why });

  async function look(): Promise<void> {
    const next = await readCredentials(directory);
    if (JSON.stringify(next) === JSON.stringify(current)) return;
    current = next;
    log.info('OAuth client changed', next.kind === 'held' ? { client: next.id } : { why: next.why });
    for (const listener of listeners) listener(next);
  }

  const stop = watchDirectory(directory, () => void (turn = turn.then(look)), { pollMs: defaultPollMs, ...options });
  return {
    get current() {
      return current;
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop,
  };
}

/**
 * Both files out of one state of the directory: the kubelet swaps the link `..data` between two, and an id must not meet the secret of the
 * next. A file that vanishes while it is read belongs to a state that is gone, so the next is read.
 */
async function readCredentials(directory: string): Promise<Credentials> {
  const before = await stateOf(directory);
  const texts = {
    id: await read(path.join(before, credentialFiles.id)),
    secret: await read(path.join(before, credentialFiles.secret)),
  };
  const isSame = before === (await stateOf(directory));
  return isSame ? credentialsOf(texts, directory) : readCredentials(directory);
}

async function stateOf(directory: string): Promise<string> {
  return realpath(path.join(directory, '..data')).catch(() => directory);
}

/** Undefined when it cannot be read: for whoever waits it is not there. */
async function read(file: string): Promise<string | undefined> {
  try {
    await using handle = await open(file);
    const buffer = Buffer.alloc(largest);
    const { bytesRead } = await handle.read(buffer, 0, largest, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } catch {
    return undefined;
  }
}
