import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../../runtime/engine/log.ts';

function capture(level: 'debug' | 'info' = 'debug') {
  const lines: Record<string, unknown>[] = [];
  const texts: string[] = [];
  const log = createLog({
    level,
    name: 'test',
    write: (line) => {
      texts.push(line);
      lines.push(JSON.parse(line) as Record<string, unknown>);
    },
  });
  return { log, lines, all: () => texts.join('') };
}

test('a line is JSON with level, time, name, message and fields', () => {
  const { log, lines } = capture();
  log.child({ controller: 'agentruntime' }).info('reconciled', { namespace: 'ns', count: 3 });
  const [{ time, ...line } = {}] = lines;
  assert.match(String(time), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  assert.deepEqual(line, {
    level: 'info',
    name: 'test',
    controller: 'agentruntime',
    namespace: 'ns',
    count: 3,
    msg: 'reconciled',
  });
});

test('levels below the chosen one write nothing', () => {
  const { log, lines } = capture('info');
  log.debug('quiet', { a: 1 });
  assert.equal(lines.length, 0);
});

const secret = 'c3VwZXItc2VjcmV0';
for (const fields of [
  { token: secret },
  { accessToken: secret },
  { headers: { Authorization: `Bearer ${secret}` } },
  { client_secret: secret },
  { nested: { deep: { adminPassword: secret } } },
  { list: [{ 'set-cookie': secret }] },
  { privateKey: secret },
  { secret: { data: { a: secret } } },
  { url: `https://admin:${secret}@keycloak.example/realms` },
  { header: `authorization: Bearer ${secret}` },
  { jwt: `eyJhbGciOiJFUzI1NiJ9.${secret}.${secret}` },
  { pem: `-----BEGIN EC PRIVATE KEY-----\n${secret}\n-----END EC PRIVATE KEY-----` },
  { object: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' }, data: { key: secret } } },
  { error: new Error(`refused: Bearer ${secret}`, { cause: new Error(`GET https://a:${secret}@b/ failed`) }) },
]) {
  test(`no secret is written: ${Object.keys(fields).join()}`, () => {
    const { log, all } = capture();
    log.error('failed', fields);
    log.child(fields).info('child');
    assert.ok(!all().includes(secret), all());
  });
}

test('the name of a secret is not a secret', () => {
  const { log, lines } = capture();
  log.info('made', { secretName: 'rossoctl-webhook-certificate', tokenFile: '/var/run/token', hasToken: true });
  assert.deepEqual(
    [lines[0]?.['secretName'], lines[0]?.['tokenFile'], lines[0]?.['hasToken']],
    ['rossoctl-webhook-certificate', '/var/run/token', true],
  );
});

test('an error is its code, message and causes; the stack only without a code', () => {
  const { log, lines } = capture();
  const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  log.error('failed', { error: Object.assign(new Error('API server away', { cause }), { code: 'API_UNAVAILABLE' }) });
  log.error('failed', { error: new TypeError('bug') });
  assert.deepEqual(lines[0]?.['error'], {
    code: 'API_UNAVAILABLE',
    message: 'API server away',
    causes: [{ code: 'ECONNREFUSED', message: 'connect ECONNREFUSED' }],
  });
  const bug = lines[1]?.['error'] as { stack?: string };
  assert.match(bug.stack ?? '', /TypeError: bug/);
});

test('cycles, depth and size are bounded; a whole object is named, not written', () => {
  const { log, lines, all } = capture();
  const cycle: Record<string, unknown> = { list: Array.from({ length: 1000 }, () => 'x') };
  cycle['self'] = cycle;
  const loop = new Error('a');
  loop.cause = loop;
  const pod = { kind: 'Pod', metadata: { namespace: 'ns', name: 'p', labels: {} }, spec: { containers: [] } };
  log.info('odd', { cycle, loop, pod, big: 'y'.repeat(100_000), bytes: Buffer.alloc(9), n: 1n, f: () => 0 });
  assert.ok(all().length < 20_000, `${all().length}`);
  assert.deepEqual(lines[0]?.['pod'], { kind: 'Pod', namespace: 'ns', name: 'p' });
});
