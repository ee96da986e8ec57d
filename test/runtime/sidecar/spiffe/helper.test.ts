import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { createHealth } from '../../../../runtime/engine/health.ts';
import { createMetrics } from '../../../../runtime/engine/metrics.ts';
import { writeSvidFiles } from '../../../../runtime/sidecar/spiffe/files.ts';
import { runSpiffeHelper, type SpiffeHelperSettings } from '../../../../runtime/sidecar/spiffe/helper.ts';
import { captureLog } from '../../engine/admission-fixtures.ts';
import { id, intermediate, jwtResponse, keyPem, leafOf, root, svidFields, svidResponse } from './answers.ts';
import { folderIn, type Methods, type Once, scriptedAgent, type Streams } from './scripted-agent.ts';

/** The helper as it runs, over an agent that answers as the test says. */
async function running(t: TestContext, methods: Methods | undefined, changed: Partial<SpiffeHelperSettings> = {}) {
  const directory = folderIn(t);
  const socketPath =
    methods === undefined ? join(directory, 'none.sock') : (await scriptedAgent(t, methods)).socketPath;
  const health = createHealth();
  const { log, lines } = captureLog();
  const stop = new AbortController();
  const settings: SpiffeHelperSettings = {
    socketPath,
    trustDomain: 'example.org',
    pod: { namespace: 'team1', serviceAccount: 'weather-sa' },
    directory: folderIn(t),
    audiences: [],
    ...changed,
  };
  const metrics = createMetrics({ process: false });
  const end = runSpiffeHelper(settings, { log, metrics, health }, stop.signal);
  t.after(async () => {
    stop.abort();
    await end;
    health.stop();
    assert.deepEqual(health.readyz().checks, []);
  });
  const line = () => health.readyz().checks.find(({ name }) => name === 'svid-files')?.reason;
  const degraded = () => health.readyz().degraded.map(({ name, reason }) => `${name}: ${reason}`);
  return { directory: settings.directory, health, lines, line, degraded };
}

async function until(isSo: () => boolean): Promise<void> {
  const end = performance.now() + 8_000;
  while (!isSo() && performance.now() < end) await sleep(10);
  assert.ok(isSo());
}

const gives =
  (...answers: readonly Uint8Array[]): Streams =>
  (call) => {
    for (const answer of answers) call.write(Buffer.from(answer));
  };
const tokens = (lifeSeconds: number): Once => {
  let count = 0;
  return (_call, answer) => {
    count += 1;
    const claims = { sub: id, aud: ['keycloak'], exp: Math.floor(Date.now() / 1000) + lifeSeconds, count };
    answer(null, Buffer.from(jwtResponse(claims)));
  };
};
const file = (directory: string, name: string) => readFileSync(join(directory, name), 'utf8');

test('not ready with a reason and no file while the agent is away (spiffe-helper#423)', async (t) => {
  const { directory, health, line, degraded } = await running(t, undefined);
  await until(() => /no such socket/.test(line() ?? ''));
  assert.match(line() ?? '', /^no SPIFFE identity yet: the SPIRE agent does not answer at /);
  assert.equal(health.healthz().ok, true);
  assert.equal(degraded().length, 1);
  assert.deepEqual(readdirSync(directory), []);
});

test('ready once the SVID is held and written; each update changes the files', async (t) => {
  const [first, second] = [leafOf(), leafOf()];
  let send = (_bytes: Uint8Array): void => {};
  const stream: Streams = (call) => {
    send = (bytes) => call.write(Buffer.from(bytes));
    send(svidResponse([svidFields(first)]));
  };
  const { directory, health, line, lines } = await running(t, { FetchX509SVID: stream });
  await until(() => health.readyz().ok);
  assert.equal(line(), undefined);
  assert.equal(file(directory, 'svid.pem'), first.pem + intermediate.pem);
  assert.equal(file(directory, 'svid_key.pem'), keyPem(first));
  assert.equal(file(directory, 'svid_bundle.pem'), root.pem);
  assert.equal(existsSync(join(directory, 'jwt_svid.token')), false);
  send(svidResponse([svidFields(second)]));
  await until(() => file(directory, 'svid.pem') === second.pem + intermediate.pem);
  assert.equal(file(directory, 'svid_key.pem'), keyPem(second));
  assert.doesNotMatch(lines.join(), /PRIVATE KEY|MIG[EH]/);
});

test('a JWT-SVID is kept fresh beside it', async (t) => {
  const methods = { FetchX509SVID: gives(svidResponse()), FetchJWTSVID: tokens(4) };
  const { directory, health } = await running(t, methods, { audiences: ['keycloak'] });
  await until(() => health.readyz().ok);
  const token = () => file(directory, 'jwt_svid.token');
  const first = token();
  assert.match(first, /^eyJ/);
  await until(() => token() !== first);
});

test('without a JWT-SVID the certificates are there, and health says what is missing', async (t) => {
  const denies: Once = (_call, answer) => answer({ code: status.PERMISSION_DENIED, details: 'no' });
  const methods = { FetchX509SVID: gives(svidResponse()), FetchJWTSVID: denies };
  const { directory, health, degraded } = await running(t, methods, { audiences: ['keycloak'] });
  await until(() => health.readyz().ok);
  assert.match(degraded().join(), /^jwt-svid: no JWT-SVID: the SPIRE agent knows no entry for this pod/);
  assert.equal(existsSync(join(directory, 'jwt_svid.token')), false);
});

test('an SVID that ends is taken away, and health says so', async (t) => {
  const end = new Date(Math.floor(Date.now() / 1000) * 1000 + 2_000).toISOString();
  const brief = leafOf({ notAfter: end.replace('.000Z', 'Z') });
  const { directory, health, line } = await running(t, { FetchX509SVID: gives(svidResponse([svidFields(brief)])) });
  await until(() => health.readyz().ok);
  await until(() => readdirSync(directory).length === 0);
  assert.match(
    line() ?? '',
    /^the SPIFFE identity spiffe:\/\/example\.org\/ns\/team1\/sa\/weather-sa ended at .*: the SPIRE agent has given no newer one; its files are taken out of /,
  );
});

test('what a run before left stays while it is good, and goes when it is not', async (t) => {
  const good = folderIn(t);
  await writeSvidFiles(good, { chain: leafOf().pem, key: 'K', bundle: 'B' });
  const bad = folderIn(t);
  await writeSvidFiles(bad, { chain: leafOf({ notAfter: '2026-01-02T00:00:00Z' }).pem, key: 'K', bundle: 'B' });
  const { line } = await running(t, undefined, { directory: good });
  await running(t, undefined, { directory: bad });
  await until(() => readdirSync(bad).length === 0);
  assert.equal(file(good, 'svid_key.pem'), 'K');
  assert.match(line() ?? '', /^no SPIFFE identity yet/);
});

test('a folder that cannot be written is said by readiness, and tried again', async (t) => {
  const directory = join(folderIn(t), 'late');
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const { line, health } = await running(t, { FetchX509SVID: gives(svidResponse()) }, { directory });
  await until(() => /cannot be written/.test(line() ?? ''));
  assert.match(line() ?? '', /^the SVID files in .*late cannot be written: ENOENT/);
  mkdirSync(directory);
  await until(() => health.readyz().ok);
});
