// Fetches Debian's static busybox without installing it, since installing it would displace the system's own.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { LabError } from '../lab-error.ts';
import { cacheDir } from '../../../scripts/cache-dir.ts';
import { type Report, timed } from '../progress.ts';
import { runCommand } from '../run-command.ts';

/** The path of a static busybox in the cache folder. */
export async function ensureBusybox(report: Report): Promise<string> {
  const path = join(cacheDir(), 'busybox', 'busybox');
  if (existsSync(path)) return path;
  await timed(report, 'fetching busybox-static', async () => {
    mkdirSync(join(cacheDir(), 'busybox'), { recursive: true });
    const workDir = mkdtempSync(join(cacheDir(), 'busybox', 'fetch-'));
    try {
      await download(workDir);
      const archive = readdirSync(workDir).find((name) => name.endsWith('.deb'));
      if (archive === undefined) throw new LabError('apt-get download left no busybox-static package');
      await runCommand('dpkg-deb', ['-x', join(workDir, archive), join(workDir, 'content')]);
      const program = ['bin/busybox', 'usr/bin/busybox'].find((name) => existsSync(join(workDir, 'content', name)));
      if (program === undefined) throw new LabError('the package busybox-static holds no busybox');
      cpSync(join(workDir, 'content', program), `${path}.partial`);
      renameSync(`${path}.partial`, path);
    } finally {
      rmSync(workDir, { recursive: true, force: true });
    }
  });
  return path;
}

// The package lists may be absent or name a release that is no longer served.
async function download(workDir: string): Promise<void> {
  try {
    await runCommand('apt-get', ['download', '-q', 'busybox-static'], { cwd: workDir });
  } catch {
    await runCommand('apt-get', ['update', '-q']);
    await runCommand('apt-get', ['download', '-q', 'busybox-static'], { cwd: workDir });
  }
}
