// The command line of a Keycloak that is built.
import { join } from 'node:path';

export interface Installed {
  /** The folder of the distribution. */
  readonly home: string;
  /** Where it may write. */
  readonly dir: string;
}

export interface Served {
  readonly host: string;
  /** What it calls itself; undefined: as it is asked. */
  readonly hostname: string | undefined;
  readonly port: number;
  /** By HTTPS as well; the files are PEM. */
  readonly secure: { readonly port: number; readonly certificate: string; readonly key: string } | undefined;
  /** The port of its health. */
  readonly management: number;
  readonly trusted: readonly string[];
  /** A file; undefined: in memory. */
  readonly database: string | undefined;
}

/** A Java that runs the server until it is told to end. */
export function keycloakCommand({ home, dir }: Installed, served: Served): readonly string[] {
  return ['java', ...javaOptions(home, dir), ...serverOptions(served)];
}

// What bin/kc.sh would say. It is left out because it stays beside Java, which would outlive it.
function javaOptions(home: string, dir: string): readonly string[] {
  const opened = [
    'java.base/java.util',
    'java.base/java.util.concurrent',
    'java.base/java.security',
    'java.base/java.lang',
  ];
  return [
    '-Xms128m',
    '-Xmx512m',
    '-XX:MaxMetaspaceSize=256m',
    // Starts in half the time, and no test lives long enough to miss what it leaves out.
    '-XX:TieredStopAtLevel=1',
    '-XX:+UseSerialGC',
    '-Dfile.encoding=UTF-8',
    `-Djava.io.tmpdir=${join(dir, 'tmp')}`,
    '-Djava.util.concurrent.ForkJoinPool.common.threadFactory=io.quarkus.bootstrap.forkjoin.QuarkusForkJoinWorkerThreadFactory',
    '-Djava.util.logging.manager=org.jboss.logmanager.LogManager',
    '-Dpicocli.disable.closures=true',
    '-Dquarkus-log-max-startup-records=10000',
    `-Dkc.home.dir=${home}`,
    `-Djboss.server.config.dir=${join(home, 'conf')}`,
    ...opened.map((what) => `--add-opens=${what}=ALL-UNNAMED`),
    '-cp',
    join(home, 'lib', 'quarkus-run.jar'),
    'io.quarkus.bootstrap.runner.QuarkusEntryPoint',
  ];
}

function serverOptions({ host, hostname, port, secure, management, trusted, database }: Served): readonly string[] {
  return [
    'start',
    '--optimized',
    '--http-enabled=true',
    hostname === undefined ? '--hostname-strict=false' : `--hostname=${hostname}`,
    `--http-host=${host}`,
    `--http-port=${port}`,
    ...(secure === undefined ? [] : secureOptions(secure)),
    `--http-management-port=${management}`,
    '--cache=local',
    ...(database === undefined ? [] : [`--db-url=jdbc:h2:file:${database};NON_KEYWORDS=VALUE;WRITE_DELAY=0`]),
    ...(trusted.length === 0 ? [] : [`--truststore-paths=${trusted.join(',')}`]),
  ];
}

function secureOptions({ port, certificate, key }: NonNullable<Served['secure']>): readonly string[] {
  return [
    `--https-port=${port}`,
    `--https-certificate-file=${certificate}`,
    `--https-certificate-key-file=${key}`,
    // Else it is served by HTTPS too.
    '--http-management-scheme=http',
  ];
}
