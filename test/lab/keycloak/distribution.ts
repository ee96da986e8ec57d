// Fetches Keycloak once, by the name of its Maven package, and makes it ready to start.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exclusively } from '../exclusive.ts';
import { LabError } from '../lab-error.ts';
import { cacheDir } from '../../../scripts/cache-dir.ts';
import { type Report, timed } from '../progress.ts';
import { runCommand } from '../run-command.ts';

/** The release of Keycloak. */
export const keycloakVersion = '26.7.3';

const artifact = `org.keycloak:keycloak-quarkus-dist:${keycloakVersion}:zip`;
const copyGoal = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy';

/** What is compiled into the server; the folder is named by it, so that other options are another build. */
const buildOptions = [
  '--db=dev-mem',
  '--features=spiffe,client-auth-federated',
  '--health-enabled=true',
  '--metrics-enabled=true',
];

/** The folder of a Keycloak that is built and only needs to be started. Takes minutes the first time, milliseconds afterwards. */
export async function ensureKeycloak(report: Report): Promise<string> {
  const dir = join(cacheDir(), `keycloak-${keycloakVersion}`);
  const home = join(dir, `keycloak-${keycloakVersion}`);
  const built = join(dir, 'built');
  if (existsSync(built)) return home;
  const onWait = (): void => report('  waiting for another process that builds Keycloak');
  await exclusively(`build ${dir}`, onWait, async () => {
    if (existsSync(built)) return;
    await build(dir, home, report);
    writeFileSync(built, '');
  });
  return home;
}

async function build(dir: string, home: string, report: Report): Promise<void> {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  await timed(report, `fetching ${artifact}`, () => fetchZip(dir));
  const zip = join(dir, `keycloak-quarkus-dist-${keycloakVersion}.zip`);
  await timed(report, 'unpacking Keycloak', () => runCommand('unzip', ['-q', zip, '-d', dir]));
  rmSync(zip);
  await timed(report, 'building Keycloak', () => runCommand(join(home, 'bin', 'kc.sh'), ['build', ...buildOptions]));
}

// Maven knows where packages come from: its settings say so.
async function fetchZip(dir: string): Promise<void> {
  try {
    await runCommand('mvn', ['-q', '-B', copyGoal, `-Dartifact=${artifact}`, `-DoutputDirectory=${dir}`]);
  } catch (cause) {
    throw new LabError('Keycloak comes from Maven and needs "mvn", "unzip" and Java 17 or newer on the PATH.', {
      cause,
    });
  }
}
