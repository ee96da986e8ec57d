/** A value read from a mounted file, which follows the file and keeps the last good value. */

import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EngineError, sentenceOf } from './errors.ts';
import type { Metrics } from './metrics.ts';
import type { Live, Log } from './types.ts';
import { type WatchDirectoryOptions, watchDirectory } from './watch-directory.ts';

export interface LiveFileOptions<T> extends WatchDirectoryOptions {
  readonly path: string;
  /** The value when there is no file. */
  readonly empty: T;
  /** Throws on text that means nothing, with a sentence that says where and why. */
  readonly parse: (text: string) => T;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface LiveFile<T> extends Live<T> {
  /** Why the file as it is now is not used, or undefined. */
  readonly fault: string | undefined;
  stop(): void;
}

/** Bytes: what a ConfigMap can hold. */
const largest = 1024 * 1024;

/** Reads and follows the file. Throws `LIVE_FILE_INVALID` if it is bad from the start: then there is no good value to keep. */
export async function openLiveFile<T>(options: LiveFileOptions<T>): Promise<LiveFile<T>> {
  const { path, log } = options;
  const meter = reloadMeter(options.metrics, path);
  const listeners = new Set<(value: T) => void>();
  let text = await read(path);
  let current = firstValue(options, text);
  let fault: string | undefined;
  meter.succeeded();

  async function reload(): Promise<void> {
    try {
      const next = await readTwice(path);
      if (next !== text) change(next === undefined ? options.empty : options.parse(next));
      text = next;
      if (fault !== undefined) log.info('configuration file is good again', { path });
      fault = undefined;
      meter.succeeded();
    } catch (error) {
      const sentence = sentenceOf(error);
      if (sentence !== fault) {
        log.error('configuration file refused, the last good value stays', { path, error });
        meter.failed();
      }
      fault = sentence;
    }
  }

  function change(value: T): void {
    current = value;
    log.info('configuration file reloaded', { path });
    for (const listener of listeners) {
      try {
        listener(value);
      } catch (error) {
        log.error('a listener to a configuration file failed', { path, error });
      }
    }
  }

  const inTurn = oneAtATime(reload);
  const stop = watchDirectory(dirname(path), inTurn, options);
  return {
    get current() {
      return current;
    },
    get fault() {
      return fault;
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop,
  };
}

function firstValue<T>({ path, empty, parse }: LiveFileOptions<T>, text: string | undefined): T {
  try {
    return text === undefined ? empty : parse(text);
  } catch (error) {
    throw new EngineError('LIVE_FILE_INVALID', `${path}: ${sentenceOf(error)}`, { cause: error });
  }
}

/** The text; undefined when there is no such file. Throws on anything that is no readable UTF-8 text of at most 1 MiB. */
async function read(path: string): Promise<string | undefined> {
  try {
    await using file = await open(path);
    const stat = await file.stat();
    if (!stat.isFile()) throw new EngineError('LIVE_FILE_INVALID', `${path} is not a file`);
    const buffer = Buffer.alloc(Math.min(stat.size, largest) + 1);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    if (bytesRead > largest) throw new EngineError('LIVE_FILE_INVALID', `${path} is larger than ${largest} bytes`);
    return new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, bytesRead));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

const secondLookMs = 50;

/** A file that seems gone is looked for again: a swapped link can be caught between two of its states. */
async function readTwice(path: string): Promise<string | undefined> {
  const text = await read(path);
  if (text !== undefined) return text;
  await new Promise((resolve) => setTimeout(resolve, secondLookMs));
  return read(path);
}

/** A call while one runs is one more run afterwards. */
function oneAtATime(run: () => Promise<void>): () => void {
  let isRunning = false;
  let isWanted = false;
  const turn = async (): Promise<void> => {
    isWanted = true;
    if (isRunning) return;
    isRunning = true;
    while (isWanted) {
      isWanted = false;
      await run();
    }
    isRunning = false;
  };
  return () => void turn();
}

function reloadMeter(metrics: Metrics, file: string) {
  const errors = metrics.counter({
    name: 'rossoctl_config_reload_errors_total',
    help: 'Contents of a configuration file that were refused.',
    labels: ['file'],
  });
  const success = metrics.gauge({
    name: 'rossoctl_config_last_reload_success',
    help: '1 when the configuration file as it is now is in use, 0 when it was refused.',
    labels: ['file'],
  });
  errors.inc({ file }, 0);
  return {
    succeeded: () => success.set({ file }, 1),
    failed: () => {
      errors.inc({ file });
      success.set({ file }, 0);
    },
  };
}
