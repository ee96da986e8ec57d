// Makes and removes the cgroup that holds a node lab's pods, in the one hierarchy of v2 or the many of v1.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from '../lab-error.ts';

const mountPoint = '/sys/fs/cgroup';

/** Makes the cgroup, because the kubelet refuses a root that is absent. */
export function makeCgroup(cgroupRoot: string): void {
  for (const dir of cgroupDirs(cgroupRoot)) mkdirSync(dir, { recursive: true });
  if (isUnified()) delegateControllers(cgroupRoot);
}

/** The folders of the cgroup that exist. */
export function existingCgroupDirs(cgroupRoot: string): readonly string[] {
  return cgroupDirs(cgroupRoot).filter(existsSync);
}

/** Removes the cgroup and those below it; the kernel may take a moment to count its ended processes out. */
export async function removeCgroup(cgroupRoot: string): Promise<void> {
  const deadline = performance.now() + 5000;
  for (const dir of existingCgroupDirs(cgroupRoot)) {
    while (!isRemoved(dir)) {
      if (performance.now() > deadline) throw new LabError(`the cgroup ${dir} still holds processes`);
      await sleep(50);
    }
  }
}

function cgroupDirs(cgroupRoot: string): readonly string[] {
  if (isUnified()) return [join(mountPoint, cgroupRoot)];
  return mountedHierarchies().map((hierarchy) => join(hierarchy, cgroupRoot));
}

function isUnified(): boolean {
  return existsSync(join(mountPoint, 'cgroup.controllers'));
}

function mountedHierarchies(): readonly string[] {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').trim().split('\n');
  return mounts
    .map((line) => line.split(' '))
    .filter(([, , type]) => type === 'cgroup' || type === 'cgroup2')
    .map(([, path = '']) => path);
}

// cgroups(7): a controller acts in a cgroup only if every parent hands it down.
function delegateControllers(cgroupRoot: string): void {
  const controllers = readFileSync(join(mountPoint, 'cgroup.controllers'), 'utf8').trim().split(' ');
  const enabled = controllers.map((controller) => `+${controller}`).join(' ');
  for (const dir of [mountPoint, join(mountPoint, cgroupRoot)]) {
    writeFileSync(join(dir, 'cgroup.subtree_control'), enabled);
  }
}

function isRemoved(dir: string): boolean {
  try {
    for (const entry of readdirSync(dir, { withFileTypes: true })) {
      if (entry.isDirectory() && !isRemoved(join(dir, entry.name))) return false;
    }
    rmdirSync(dir);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return true;
    if (error instanceof Error && 'code' in error && error.code === 'EBUSY') return false;
    throw error;
  }
}
