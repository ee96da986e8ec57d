/** Where what is made or fetched once is kept, outside the project: the lab's binaries, and the Envoy of the image. */

import { homedir } from 'node:os';
import path from 'node:path';

/** The folder; it need not exist yet. */
export function cacheDir(): string {
  const { XDG_CACHE_HOME: userCache } = process.env;
  return path.join(userCache ? userCache : path.join(homedir(), '.cache'), 'rossoctl', 'lab');
}
