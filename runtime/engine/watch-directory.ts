/** Tells when something in a directory may have changed: by the kernel's notice where there is one, and by the clock in any case. */

import { type FSWatcher, watch } from 'node:fs';

export interface WatchDirectoryOptions {
  /** Notices closer together than this are one, in milliseconds. Default 100. */
  readonly debounceMs?: number;
  /** Milliseconds. Default 60,000. */
  readonly pollMs?: number;
}

/**
 * Calls `changed` after each change and at each poll, until the returned stop. The directory is watched and not its files, because the
 * kubelet changes a mounted ConfigMap or Secret by swapping the symbolic link `..data`. The directory may be absent, or come later.
 */
export function watchDirectory(
  directory: string,
  changed: () => void,
  options: WatchDirectoryOptions = {},
): () => void {
  const { debounceMs = 100, pollMs = 60_000 } = options;
  let watcher: FSWatcher | undefined;
  let settling: NodeJS.Timeout | undefined;

  const notice = (): void => {
    clearTimeout(settling);
    settling = setTimeout(changed, debounceMs).unref();
  };
  const unwatch = (): void => {
    watcher?.close();
    watcher = undefined;
  };
  const ensureWatching = (): void => {
    if (watcher !== undefined) return;
    try {
      watcher = watch(directory, { persistent: false }, notice);
      watcher.on('error', unwatch);
    } catch {
      // Not there, or no watches left: the poll looks, and tries again.
      watcher = undefined;
    }
  };

  ensureWatching();
  const poll = setInterval(() => {
    unwatch();
    ensureWatching();
    changed();
  }, pollMs).unref();
  return () => {
    clearInterval(poll);
    clearTimeout(settling);
    unwatch();
  };
}
