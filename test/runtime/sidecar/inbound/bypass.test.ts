/** Which paths need no token, and that nothing gets by them into what needs one. */

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { defaultBypassPaths, globProblem } from '../../../../runtime/config/bypass-paths.ts';
import {
  createBypass,
  type PathVerdict,
  readBypassPaths,
  readProbes,
} from '../../../../runtime/sidecar/inbound/bypass.ts';

const probes = [
  { port: 8000, path: '/alive?full=1' },
  { port: 8001, path: '/' },
  { port: 9000, path: '/grpc.health.v1.Health/Check' },
];
const judge = createBypass([...defaultBypassPaths, '/files/*/logo-*.png'], probes);

const kindOf = (path: string, port = 8000, method = 'GET'): PathVerdict['kind'] => judge({ path, port, method }).kind;

const table: Readonly<Record<PathVerdict['kind'], readonly string[]>> = {
  bypass: [
    '/.well-known/agent-card.json',
    '/.well-known/oauth-protected-resource/mcp',
    '/.well-known/a%20b',
    '/healthz',
    '/healthz?verbose&x=/../admin',
    '/metrics',
    '/alive?full=1',
    '/files/a/logo-1.png',
    '/files/a/logo-.png',
  ],
  protected: [
    '/alive',
    '/alive?full=2',
    '/',
    '',
    '*',
    'http://agent/healthz',
    '/Healthz',
    '/healthz/',
    '/healthz/x',
    '/healthz;x',
    '/%68ealthz',
    '/.well-known',
    '/.well-known/',
    '/.well-known/../admin',
    '/.well-known/%2e%2e/admin',
    '/.well-known/.%2E/admin',
    '/.well-known/..;/admin',
    '/.well-known/...',
    '/.well-known/..%20/admin',
    '/.well-known/./x',
    '/.well-known//x',
    '//.well-known/x',
    '/.well-known/%252e%252e%252fadmin',
    '/.well-known/%C0%AE%C0%AE/admin',
    '/.well-known/%EF%BC%8F',
    '/.well-known/ü',
    '/files/a/b/logo-1.png',
    '/files//logo-1.png',
    '/x/../healthz',
  ],
  refused: [
    '/.well-known/..%2fadmin',
    '/.well-known/..%2Fadmin',
    String.raw`/.well-known/..\admin`,
    '/.well-known/..%5cadmin',
    '/healthz%00',
    '/healthz%0a',
    '/healthz%',
    '/healthz%zz',
    '/healthz#x',
    '/health z',
  ],
};

for (const [kind, paths] of Object.entries(table)) {
  for (const path of paths) test(`${JSON.stringify(path)} is ${kind}`, () => assert.equal(kindOf(path), kind));
}

test('open paths are open to readers alone, a probe on its own port alone', () => {
  for (const method of ['GET', 'HEAD', 'OPTIONS']) assert.equal(kindOf('/healthz', 8000, method), 'bypass');
  for (const method of ['POST', 'PUT', 'DELETE', 'get']) assert.equal(kindOf('/healthz', 8000, method), 'protected');
  assert.equal(kindOf('/', 8001), 'bypass');
  assert.equal(kindOf('/', 8001, 'POST'), 'protected');
  assert.equal(kindOf('/alive?full=1', 8001), 'protected');
  assert.equal(judge({ path: '/alive?full=1', method: 'GET', port: undefined }).kind, 'protected');
});

test('a gRPC probe is a POST, of that path alone and only where the pod has it', () => {
  assert.equal(kindOf('/grpc.health.v1.Health/Check', 9000, 'POST'), 'bypass');
  assert.equal(kindOf('/grpc.health.v1.Health/Check', 8000, 'POST'), 'protected');
  assert.equal(kindOf('/grpc.health.v1.Health/Watch', 9000, 'POST'), 'protected');
});

const once = (path: string): string => {
  try {
    return decodeURIComponent(path);
  } catch {
    return unescape(path);
  }
};

/** What servers do to a path before they look for what it names. */
const steps: readonly ((path: string) => string)[] = [
  once,
  (path) => once(once(path)),
  (path) => path.replaceAll('\\', '/'),
  (path) => path.replaceAll(/\/{2,}/g, '/'),
  (path) => path.replaceAll(/;[^/]*/g, ''),
  (path) => path.replaceAll(/[. ]+(?=\/|$)/g, (dots) => (dots.startsWith('..') ? '..' : dots)),
  (path) => path.normalize('NFKC'),
  (path) => new URL(`http://a${path.startsWith('/') ? path : `/${path}`}`).pathname,
];

function resolvedDots(path: string): string {
  const out: string[] = [];
  for (const segment of path.split('/').slice(1)) {
    if (segment === '..') out.pop();
    else if (segment !== '.') out.push(segment);
  }
  return `/${out.join('/')}`;
}

const part = fc.oneof(
  fc.constantFrom(
    '.well-known',
    'healthz',
    'admin',
    'agent.json',
    '..',
    '.',
    '%2e',
    '%2E%2e',
    '%252e',
    '%2f',
    '%252f',
    '%5c',
    '\\',
    ';',
    ';a',
    '',
    '%',
    '%00',
    ' ',
    '%20',
    '#',
    '?',
    '%c0%ae',
    '\u{FF0E}',
    '\u{FF0F}',
    '%EF%BC%8F',
    '.%20',
    '..%20',
  ),
  fc.string({ maxLength: 3 }),
);
const nasty = fc
  .array(fc.tuple(fc.constantFrom('/', '/', '/', '', '//'), part), { maxLength: 8 })
  .map((parts) => `/.well-known${parts.map((it) => it.join('')).join('')}`);

test('no server finds anything outside of the open subtree by a path that bypasses', () => {
  const inside = createBypass(['/.well-known/*'], []);
  let seen = 0;
  fc.assert(
    fc.property(nasty, fc.array(fc.nat({ max: steps.length - 1 }), { maxLength: 4 }), (path, order) => {
      if (inside({ path, method: 'GET', port: 80 }).kind !== 'bypass') return;
      seen += 1;
      const read = order.reduce((at, index) => steps[index]?.(at) ?? at, path.split('?', 1)[0] ?? '');
      assert.match(resolvedDots(read), /^\/\.well-known\/./);
    }),
    { numRuns: 20_000 },
  );
  assert.ok(seen > 100, `only ${seen} paths bypassed: the property says nothing`);
});

test('nothing throws, whatever the path is', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (path) => void kindOf(path)));
});

const globs: readonly (readonly [glob: string, problem: RegExp | undefined])[] = [
  ['/healthz', undefined],
  ['/', undefined],
  ['/api/*/open/*', undefined],
  ['/v1*', undefined],
  ['*', /begin with/],
  ['', /begin with/],
  ['healthz', /begin with/],
  ['/*', /every path/],
  ['/*/x', /every path/],
  ['/*.json', /every path/],
  ['/a/**', /"\*\*"/],
  ['/a?b', /no query/],
  ['/a%20b', /no escapes/],
  ['/a;b', /";"/],
  ['/a//b', /plain path/],
  ['/a/../b', /plain path/],
  ['/ü', /plain path/],
];

for (const [glob, problem] of globs) {
  test(`the glob ${JSON.stringify(glob)} is ${problem === undefined ? 'taken' : 'refused'}`, () => {
    if (problem === undefined) assert.equal(globProblem(glob), undefined);
    else assert.match(globProblem(glob) ?? '', problem);
  });
}

test('settings are told what is wrong with them, and where', () => {
  assert.deepEqual(readBypassPaths(undefined), { value: defaultBypassPaths });
  assert.deepEqual(readBypassPaths('[]'), { value: [] });
  assert.deepEqual(readBypassPaths('["/a","/*"]'), {
    problem: 'BYPASS_PATHS[1]: "/*" would open every path; write out the first segment',
  });
  assert.match(JSON.stringify(readBypassPaths('["/a"')), /BYPASS_PATHS: no JSON: it ends too early/);
  assert.deepEqual(readProbes('[{"port":80,"path":"/x"}]'), { value: [{ port: 80, path: '/x' }] });
  assert.match(JSON.stringify(readProbes('[{"port":"80"}]')), /PROBES\[0\]\.port/);
  assert.match(JSON.stringify(readProbes('[{"port":80}]')), /PROBES\[0\]\.path: is missing/);
  assert.match(JSON.stringify(readProbes('[{"port":80,"path":"/","host":"x"}]')), /PROBES\[0\]\.host: unknown key/);
});

test('a probe is open with its own query alone', () => {
  const judged = createBypass(
    [],
    [
      { port: 8000, path: '/live?deep=1' },
      { port: 8000, path: '/ready' },
    ],
  );
  const asked = (path: string) => judged({ method: 'GET', path, port: 8000 }).kind;
  assert.deepEqual(['/live?deep=1', '/live', '/live?deep=2', '/ready', '/ready?restart=1'].map(asked), [
    'bypass',
    'protected',
    'protected',
    'bypass',
    'protected',
  ]);
});
