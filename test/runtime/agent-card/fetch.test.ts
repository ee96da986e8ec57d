/** Fetching a card: paths, versions, ETags, redirects; AC-01. What hostile agents do is in `hostile.test.ts`. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ask, Endpoint, Fetched, Known } from '../../../runtime/agent-card/contact.ts';
import { createFetcher } from '../../../runtime/agent-card/fetch.ts';
import { type Agent, agent, json, status } from './agents.ts';

const newPath = '/.well-known/agent-card.json';
const oldPath = '/.well-known/agent.json';
const card = { name: 'Weather' };

/** How busy the machine is decides nothing here. */
const timeoutMs = 600_000;
const ask: Ask = createFetcher({ timeoutMs, reach: ({ address, port }) => ({ address, port }) });

function fetched({ endpoint }: Agent, known?: Known): Promise<Fetched> {
  return ask(endpoint, known, new AbortController().signal);
}

/** The card's text and path, or the reason. */
function told(result: Fetched): string {
  if (result.kind === 'card') return `${result.path} ${Buffer.from(result.body).toString()}`;
  return result.kind === 'failed' ? result.reason : result.kind;
}

const paths = ({ requests }: Agent): readonly string[] => requests.map(({ path }) => path);

test('AC-01: an agent with the new path only is asked once', async (t) => {
  const one = await agent(t, { [newPath]: json(card) });
  assert.equal(told(await fetched(one)), `${newPath} {"name":"Weather"}`);
  assert.deepEqual(paths(one), [newPath]);
});

test('AC-01: an agent with the old path only is found there, and is asked at the new one first each time', async (t) => {
  const one = await agent(t, { [oldPath]: json(card) });
  assert.equal(told(await fetched(one)), `${oldPath} {"name":"Weather"}`);
  assert.equal(told(await fetched(one)), `${oldPath} {"name":"Weather"}`);
  assert.deepEqual(paths(one), [newPath, oldPath, newPath, oldPath]);
});

test('AC-01: a 500 on the new path is an error, whatever the old one has', async (t) => {
  const one = await agent(t, { [newPath]: status(500), [oldPath]: json(card) });
  assert.deepEqual(await fetched(one), {
    kind: 'failed',
    reason: 'HTTPStatus',
    message: `http://127.0.0.1:${one.endpoint.port}${newPath} (pod weather-1, Service weather, port a2a) answered 500`,
  });
  assert.deepEqual(paths(one), [newPath]);
});

for (const code of [404, 405, 410, 501])
  test(`AC-01: ${code} on the new path says that nothing is there`, async (t) => {
    const one = await agent(t, { [newPath]: status(code), [oldPath]: json(card) });
    assert.equal(told(await fetched(one)), `${oldPath} {"name":"Weather"}`);
  });

for (const code of [200, 204, 206, 304, 400, 401, 403, 429, 500, 502, 503])
  test(`AC-01: ${code} without a card on the new path never leads to the old one, but for a page in place of JSON`, async (t) => {
    const isPage = code === 200;
    const one = await agent(t, { [newPath]: status(code, {}, isPage ? '<html>' : ''), [oldPath]: json(card) });
    assert.equal(told(await fetched(one)), isPage ? `${oldPath} {"name":"Weather"}` : 'HTTPStatus');
  });

test('where neither path has a card, both are named', async (t) => {
  const one = await agent(t, { [newPath]: status(404), [oldPath]: status(405) });
  const { port } = one.endpoint;
  assert.deepEqual(await fetched(one), {
    kind: 'failed',
    reason: 'HTTPStatus',
    message: `http://127.0.0.1:${port} (pod weather-1, Service weather, port a2a) serves no card: ${newPath} answered 404, ${oldPath} answered 405`,
  });
});

test('a card with a mistake is told by its place, not by what the old path answers', async (t) => {
  const one = await agent(t, { [newPath]: status(200, {}, '{\n  "name": "x",\n  bad }'), [oldPath]: status(404) });
  const { port } = one.endpoint;
  assert.deepEqual(await fetched(one), {
    kind: 'failed',
    reason: 'NotJSON',
    message: `http://127.0.0.1:${port} (pod weather-1, Service weather, port a2a) serves no card: ${newPath} sends no JSON: "b" is unexpected (line 3, column 3), ${oldPath} answered 404`,
  });
});

test('an agent is told whom it is asked as, what is understood, and no credentials', async (t) => {
  const one = await agent(t, { [newPath]: json(card) });
  await fetched(one);
  assert.deepEqual(one.requests[0]?.headers, {
    host: one.endpoint.host,
    accept: 'application/json, application/a2a+json',
    'accept-encoding': 'identity',
    'a2a-version': '1.0',
    'user-agent': 'rossoctl-operator',
    connection: 'close',
  });
});

test('an agent that refuses the version header is asked without it, on both paths', async (t) => {
  const one = await agent(t, {
    [newPath]: (response, { headers }) => response.writeHead('a2a-version' in headers ? 400 : 404).end(),
    [oldPath]: json(card),
  });
  assert.equal(told(await fetched(one)), `${oldPath} {"name":"Weather"}`);
  assert.deepEqual(
    one.requests.map(({ path, headers }) => [path, headers['a2a-version']]),
    [
      [newPath, '1.0'],
      [newPath, undefined],
      [oldPath, undefined],
    ],
  );
});

test('an agent that refuses every request is asked twice and no more', async (t) => {
  const one = await agent(t, { '*': status(400) });
  assert.equal(told(await fetched(one)), 'HTTPStatus');
  assert.deepEqual(paths(one), [newPath, newPath]);
});

test('an ETag is remembered with its path, and 304 means as before', async (t) => {
  const one = await agent(t, {
    [newPath]: (response, { headers }) =>
      headers['if-none-match'] === '"v1"'
        ? response.writeHead(304).end()
        : json(card, { etag: '"v1"' })(response, {} as never),
  });
  const first = await fetched(one);
  assert.equal(first.kind === 'card' ? first.etag : undefined, '"v1"');
  assert.deepEqual(await fetched(one, { path: newPath, etag: '"v1"' }), { kind: 'unchanged' });
});

test('the ETag of one path is not sent to the other', async (t) => {
  const one = await agent(t, { [oldPath]: json(card, { etag: 'W/"old"' }) });
  const known = { path: oldPath, etag: 'W/"old"' };
  await fetched(one, known);
  assert.deepEqual(
    one.requests.map(({ headers }) => headers['if-none-match']),
    [undefined, 'W/"old"'],
  );
});

test('a 304 that nobody asked for is no answer', async (t) => {
  const one = await agent(t, { [newPath]: status(304) });
  assert.equal(told(await fetched(one)), 'HTTPStatus');
});

for (const etag of ['v1', '"with space "', '"ü"', `"${'x'.repeat(600)}"`])
  test(`an ETag that could not be sent back is forgotten: ${etag.slice(0, 20)}`, async (t) => {
    const one = await agent(t, { [newPath]: json(card, { etag: Buffer.from(etag).toString('latin1') }) });
    const result = await fetched(one);
    assert.equal(result.kind === 'card' ? result.etag : 'no card', undefined);
  });

test('a redirect on the same host is followed: relative, by the name asked, and by the address', async (t) => {
  const one = await agent(t, {
    [newPath]: (response) => response.writeHead(301, { location: '../v1/card?x=1' }).end(),
    '/v1/card?x=1': (response) => response.writeHead(302, { location: `http://${one.endpoint.host}/v2` }).end(),
    '/v2': (response) => response.writeHead(307, { location: `http://127.0.0.1:${one.endpoint.port}/v3` }).end(),
    '/v3': json(card, { etag: '"elsewhere"' }),
  });
  const result = await fetched(one);
  assert.deepEqual(paths(one), [newPath, '/v1/card?x=1', '/v2', '/v3']);
  assert.equal(told(result), `${newPath} {"name":"Weather"}`);
  assert.equal(result.kind === 'card' ? result.etag : 'no card', undefined);
});

test('a redirect to nowhere on the new path is "not here" as any other 404', async (t) => {
  const one = await agent(t, { [newPath]: status(302, { location: '/gone' }), [oldPath]: json(card) });
  assert.equal(told(await fetched(one)), `${oldPath} {"name":"Weather"}`);
});

test('a failure after a redirect is told without the query, which is another each time', async (t) => {
  let count = 0;
  const one = await agent(t, {
    [newPath]: (response) => response.writeHead(302, { location: `/login?state=${(count += 1)}` }).end(),
    '/login?state=1': status(500),
    '/login?state=2': status(500),
  });
  const [first, second] = [await fetched(one), await fetched(one)];
  assert.deepEqual(first, second);
  assert.match(first.kind === 'failed' ? first.message : '', /\/login \(pod .* answered 500$/);
});

test('a content type decides nothing; a byte order mark is passed over', async (t) => {
  const one = await agent(t, { [newPath]: status(200, { 'content-type': 'text/html' }, '\uFEFF{"name":"Weather"}') });
  assert.equal(told(await fetched(one)), `${newPath} \uFEFF{"name":"Weather"}`);
});

test('a call that is aborted ends at once', async (t) => {
  const one = await agent(t, { [newPath]: () => asked.abort() });
  const asked = new AbortController();
  const result = await ask(one.endpoint, undefined, asked.signal);
  assert.equal(result.kind, 'failed');
  await one.quiet();
  assert.equal((await ask(one.endpoint, undefined, asked.signal)).kind, 'failed');
  assert.equal(one.requests.length, 1);
});

const asksAnyone = createFetcher();
const v4 = ['127.0.0.1', '127.9.9.9', '0.0.0.0', '169.254.169.254', '224.0.0.1', '255.255.255.255'];
const v6 = ['::1', '::', 'fe80::1', 'ff02::1', '::ffff:127.0.0.1', '::ffff:169.254.169.254', 'fd00:ec2::254'];
const names = ['localhost', 'weather.team1.svc', '', '127.0.0.1 ', '0177.0.0.1'];
for (const address of [...v4, ...v6, ...names])
  test(`AC-04: nobody is asked at ${JSON.stringify(address)}`, async () => {
    const place = { address, port: 1, host: 'weather.team1.svc:1' };
    const endpoint: Endpoint = { ...place, pod: 'weather-1', revision: '', via: 'Service weather' };
    const result = await asksAnyone(endpoint, undefined, new AbortController().signal);
    assert.equal(told(result), 'ConnectionFailed');
    assert.match(result.kind === 'failed' ? result.message : '', /is not asked: /);
  });
