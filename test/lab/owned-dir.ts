// Temporary folders that carry their owner's identity, so that those of ended processes can be swept away.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRunning, type ProcessIdentity, processIdentity } from './process-identity.ts';

const prefix = 'rossoctl-';
const ownerFile = 'owner.json';

/** Makes a folder `rossoctl-<name>-…` that belongs to this process. */
export function makeOwnedDir(name: string, parentDir: string = tmpdir()): string {
  const dir = mkdtempSync(join(parentDir, `${prefix}${name}-`));
  markOwner(dir, processIdentity(process.pid));
  return dir;
}

/** Says whose end makes a folder `rossoctl-…` superfluous. */
export function markOwner(dir: string, owner: ProcessIdentity | undefined): void {
  writeFileSync(join(dir, ownerFile), JSON.stringify(owner));
}

/** Removes the folders whose owners have ended without removing them. */
export function sweepAbandonedDirs(parentDir: string = tmpdir()): void {
  for (const entry of readdirSync(parentDir, { withFileTypes: true })) {
    if (!entry.isDirectory() || !entry.name.startsWith(prefix)) continue;
    const dir = join(parentDir, entry.name);
    const owner = readOwner(dir);
    if (owner !== undefined && !isRunning(owner)) rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

function readOwner(dir: string): ProcessIdentity | undefined {
  try {
    return JSON.parse(readFileSync(join(dir, ownerFile), 'utf8')) as ProcessIdentity;
  } catch {
    // Not an owned folder, or one whose owner is only just making it.
    return undefined;
  }
}
