/** Hosts and the table of routes: what matches, what is read, what is refused and where. */

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { hostProblem } from '../../../../runtime/config/routes.ts';
import { authorityOf, sameAddress } from '../../../../runtime/encoding/authority.ts';
import { hostMatcher, providerRoutes, readRoutes, routeOf } from '../../../../runtime/sidecar/outbound/routes.ts';

const authorities: readonly (readonly [authority: string, host: string | undefined, port?: number])[] = [
  ['tool-x', 'tool-x'],
  ['Tool-X.Team1.SVC.:8080', 'tool-x.team1.svc', 8080],
  ['my_svc:80', 'my_svc', 80],
  ['10.1.2.3:8080', '10.1.2.3', 8080],
  ['[FD00:0::1]:80', 'fd00::1', 80],
  ['[::ffff:10.0.0.1]', '10.0.0.1'],
  ['xn--tl-xka.example', 'xn--tl-xka.example'],
  ['töl.example', undefined],
  ['tool-x:', 'tool-x'],
  ['', undefined],
  ['.', undefined],
  [':80', undefined],
  ['user@tool-x', undefined],
  ['tool-x/path', undefined],
  ['tool-x tool-y', undefined],
  ['tool-x,tool-y', 'tool-x,tool-y'],
  ['tool-x:0', undefined],
  ['tool-x:65536', undefined],
  ['tool-x:80:80', undefined],
  ['[::1', undefined],
  ['fd00::1', undefined],
];

for (const [authority, host, port] of authorities) {
  test(`the authority ${JSON.stringify(authority)}`, () =>
    assert.deepEqual(authorityOf(authority), host === undefined ? undefined : { host, port }));
}

test('one address has one spelling', () => {
  for (const [address, expected] of [
    ['::FFFF:10.0.0.1', '10.0.0.1'],
    ['::ffff:a00:1', '10.0.0.1'],
    ['FD00:0:0::0001', 'fd00::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['10.0.0.1', '10.0.0.1'],
  ] as const) {
    assert.equal(sameAddress(address), expected);
  }
});

const globs: readonly (readonly [glob: string, yes: readonly string[], no: readonly string[]])[] = [
  ['tool-x', ['tool-x'], ['tool-x.team1', 'xtool-x', 'tool-xx']],
  ['*.team1.svc', ['tool-x.team1.svc'], ['team1.svc', 'a.b.team1.svc', '.team1.svc', 'a.team1.svc.evil']],
  ['**.team1.svc', ['a.team1.svc', 'a.b.team1.svc'], ['team1.svc', 'ateam1.svc']],
  ['tool-*.svc', ['tool-x.svc', 'tool-.svc'], ['tool.svc', 'tool-x.y.svc']],
  ['**', ['a', 'a.b.c', '10.0.0.1'], ['fd00::1', '']],
  ['Tool-X.', ['tool-x'], ['tool-x.']],
  ['10.0.*.*', ['10.0.1.2'], ['10.0.1', '10.0.1.2.3']],
  ['[FD00::1]', ['fd00::1'], ['fd00::2']],
  ['a+b.c', ['a+b.c'], ['aab.c', 'a+bxc']],
];

for (const [glob, yes, no] of globs) {
  test(`the glob ${glob}`, () => {
    assert.equal(hostProblem(glob), undefined);
    for (const host of yes) assert.ok(hostMatcher(glob)(host), `${host} matches`);
    for (const host of no) assert.ok(!hostMatcher(glob)(host), `${host} does not match`);
  });
}

const foreign: readonly (readonly [host: string, problem: string])[] = [
  ['ü.de', 'must be in ASCII, as clients send it: write xn--tda.de'],
  ['*.Bücher.example', 'must be in ASCII, as clients send it: write *.xn--bcher-kva.example'],
  ['a\u{ffff}b', 'must be in ASCII, as clients send it'],
];

for (const [host, problem] of foreign) {
  test(`the glob ${host} would match nothing that a client sends`, () => assert.equal(hostProblem(host), problem));
}

test('a glob of labels matches label by label, as written out without regular expressions', () => {
  const label = fc.constantFrom('a', 'bc', 'tool', 'x');
  const glob = fc.array(fc.oneof(label, fc.constant('*')), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(glob, fc.array(label, { minLength: 1, maxLength: 4 }), (pattern, labels) => {
      const expected = pattern.length === labels.length && pattern.every((it, at) => it === '*' || it === labels[at]);
      assert.equal(hostMatcher(pattern.join('.'))(labels.join('.')), expected);
    }),
  );
});

test('no glob makes matching slow', () => {
  const host = `${'a'.repeat(60)}.`.repeat(4).slice(0, 243);
  const begun = performance.now();
  for (const glob of ['**.a*a*b', '*a*.*a*.*a*.*a*b', '**.b', `${'*a'.repeat(30)}b.**`]) {
    assert.equal(hostProblem(glob), undefined);
    assert.ok(!hostMatcher(glob)(host));
  }
  // What backtracks takes minutes; a starved machine takes none of that.
  assert.ok(performance.now() - begun < 5_000);
});

test('the first route counts, and what is not said has its default', () => {
  const { value: routes } = readRoutes(
    JSON.stringify([
      { host: 'tool-x', audience: 'tool-x', scopes: ['tool-aud'], noToken: 'allow' },
      { host: 'tool-*', action: 'deny' },
      { host: '**', audience: 'rest', tokenUrl: 'https://idp.example/token' },
    ]),
  ) as { readonly value: Parameters<typeof routeOf>[0] };
  const of = (host: string) => JSON.parse(JSON.stringify(routeOf(routes, host) ?? null)) as unknown;
  assert.deepEqual(of('tool-x'), {
    host: 'tool-x',
    action: 'exchange',
    noToken: 'allow',
    target: { audience: 'tool-x', scopes: ['tool-aud'], tokenUrl: '' },
  });
  assert.deepEqual(of('tool-y'), { host: 'tool-*', action: 'deny' });
  assert.deepEqual(of('a.b'), {
    host: '**',
    action: 'exchange',
    noToken: 'deny',
    target: { audience: 'rest', scopes: [], tokenUrl: 'https://idp.example/token' },
  });
  assert.deepEqual(readRoutes(undefined), { value: [] });
});

const problems: readonly (readonly [text: string, expected: RegExp])[] = [
  ['{}', /^ROUTES: is a section; must be/],
  ['[', /^ROUTES: no JSON: it ends too early/],
  ['[{"host":"a","host":"b"}]', /^ROUTES: no JSON: the member "host" occurs twice/],
  ['[{"audience":"a"}]', /^ROUTES\[0\]\.host: is missing$/],
  ['[{"host":"a","audiense":"b"}]', /^ROUTES\[0\]\.audiense: unknown key; did you mean audience\?/],
  ['[{"host":"a"}]', /^ROUTES\[0\]\.audience: is missing: an exchange needs/],
  ['[{"host":"a","action":"allow"}]', /^ROUTES\[0\]\.action: "allow" is not allowed/],
  ['[{"host":"a","action":"deny","audience":"x"}]', /^ROUTES\[0\]\.audience: has no effect with the action deny/],
  ['[{"host":"a","action":"deny","mtls":"none"}]', /^ROUTES\[0\]\.mtls: has no effect with the action deny/],
  ['[{"host":"a","action":"passthrough","mtls":"strict"}]', /^ROUTES\[0\]\.mtls: "strict" is not allowed/],
  ['[{"host":"a","audience":"x","noToken":"maybe"}]', /^ROUTES\[0\]\.noToken: /],
  ['[{"host":"a","scopes":["a b"]}]', /^ROUTES\[0\]\.scopes\[0\]: .*one scope/i],
  ['[{"host":"a","audience":"x"},{"host":"b:80","audience":"x"}]', /^ROUTES\[1\]\.host: is compared without a port/],
  ['[{"host":"http://a","audience":"x"}]', /^ROUTES\[0\]\.host: must be a host/],
  ['[{"host":"a..b","audience":"x"}]', /^ROUTES\[0\]\.host: has an empty label/],
  ['[{"host":"a**","audience":"x"}]', /"\*\*" stands for whole labels/],
  ['[{"host":"**.a.**","audience":"x"}]', /may have "\*\*" once/],
  ['[{"host":"[::1","audience":"x"}]', /^ROUTES\[0\]\.host: is no IPv6 address/],
  ['[{"host":"a","audience":"x","tokenUrl":"idp/token"}]', /^ROUTES\[0\]\.tokenUrl: must be a URL/],
  ['[{"host":"a","audience":"x","tokenUrl":"https://u:secret@idp/"}]', /^ROUTES\[0\]\.tokenUrl: must not hold/],
];

for (const [text, expected] of problems) {
  test(`routes: ${text}`, () => {
    const read = readRoutes(text);
    assert.match('problem' in read ? read.problem : 'taken', expected);
    assert.ok(!JSON.stringify(read).includes('secret'));
  });
}

test('the identity provider may see its own tokens again, by whatever name it is called', () => {
  const routes = providerRoutes([
    'http://Keycloak.ns.svc:8080/realms/a',
    'http://keycloak.ns.svc:8080/token',
    '',
    'http://[FD00::1]/',
  ]);
  assert.deepEqual(
    routes.map(({ host, action, mtls }) => [host, action, mtls]),
    [
      ['keycloak.ns.svc', 'passthrough', 'none'],
      ['fd00::1', 'passthrough', 'none'],
    ],
  );
  assert.ok(routeOf(routes, 'keycloak.ns.svc') !== undefined && routeOf(routes, 'akeycloak.ns.svc') === undefined);
});

test('the identity provider is what its URLs say: by plain HTTP, on that port, below that path', () => {
  const routes = providerRoutes(['http://keycloak.ns.svc:8080/realms/a', 'https://login.example/realms/a']);
  const isThere = (host: string, port: number, path: string) => routeOf(routes, host, { port, path }) !== undefined;
  const rows: readonly (readonly [string, number, string, boolean])[] = [
    ['keycloak.ns.svc', 8080, '/realms/a/protocol/openid-connect/userinfo', true],
    ['keycloak.ns.svc', 8080, '/realms/a?x=1', true],
    ['keycloak.ns.svc', 80, '/realms/a/protocol/openid-connect/userinfo', false],
    ['keycloak.ns.svc', 8080, '/realms/ab/protocol', false],
    ['keycloak.ns.svc', 8080, '/realms/b/protocol', false],
    ['keycloak.ns.svc', 8080, '/realms/a/../b/protocol', false],
    ['keycloak.ns.svc', 8080, '/realms/a/%2e%2e/b', false],
    ['login.example', 80, '/realms/a/userinfo', false],
  ];
  for (const [host, port, path, expected] of rows) assert.equal(isThere(host, port, path), expected, `${port}${path}`);
});
