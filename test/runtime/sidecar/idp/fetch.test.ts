/** Conversations with servers that answer as no identity provider should. */

import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import test, { type TestContext } from 'node:test';
import { makeAuthority, makeLeaf } from '../../../../runtime/engine/certificate-authority.ts';
import { createIdpClient, type IdpClientOptions } from '../../../../runtime/sidecar/idp/fetch.ts';

async function asked(t: TestContext, listener: RequestListener, options: IdpClientOptions = {}, timeoutMs = 5_000) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const client = createIdpClient(options);
  t.after(async () => {
    await client.close();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return client.ask({ method: 'POST', url: `http://127.0.0.1:${port}/token`, body: 'a=b', timeoutMs });
}

test('an answer is an answer, whatever its status; redirects are not followed', async (t) => {
  const found = await asked(t, (_, reply) => {
    reply
      .writeHead(302, { location: 'http://127.0.0.1:1/', 'content-type': 'text/html', 'retry-after': '7' })
      .end('moved');
  });
  assert.deepEqual(found, {
    kind: 'answer',
    status: 302,
    contentType: 'text/html',
    retryAfterSeconds: 7,
    body: Buffer.from('moved'),
  });
});

test('a body that is too large ends the conversation, with its length told or not', async (t) => {
  const large = await asked(t, (_, reply) => void reply.end('x'.repeat(2_000)), { maxBytes: 1_000 });
  assert.deepEqual(large, { kind: 'no-answer', reason: 'too-large', why: 'answers with more than 1000 bytes' });
  const endless = await asked(
    t,
    (_, reply) => {
      const more = (): void => {
        if (!reply.destroyed) reply.write('x'.repeat(500), () => setImmediate(more));
      };
      more();
    },
    { maxBytes: 1_000 },
  );
  assert.equal(endless.kind === 'no-answer' && endless.reason, 'too-large');
});

test('the time is that of the whole conversation: a silent server and a dripping one end alike', async (t) => {
  const expected = { kind: 'no-answer', reason: 'timeout', why: 'does not answer within 0.2 s' };
  assert.deepEqual(await asked(t, () => undefined, {}, 200), expected);
  const dripping: RequestListener = (_, reply) => {
    const timer = setInterval(() => reply.write('x'), 50);
    reply.once('close', () => clearInterval(timer));
  };
  assert.deepEqual(await asked(t, dripping, {}, 200), expected);
});

test('interim answers are passed over while they are few; one after the other is no answer', async (t) => {
  const after =
    (count: number): RequestListener =>
    (_, reply) => {
      for (let sent = 0; sent < count; sent += 1) reply.writeEarlyHints({ link: '</keys>; rel=preload' });
      reply.end('here');
    };
  const few = await asked(t, after(8));
  assert.equal(few.kind === 'answer' && few.body.toString(), 'here');
  const endless = await asked(t, after(9));
  assert.deepEqual(endless, {
    kind: 'no-answer',
    reason: 'too-large',
    why: 'sends one interim answer (1xx) after the other',
  });
});

test('a connection that is cut, a port nobody listens on, a name nobody knows', async (t) => {
  const cut = await asked(t, (request) => void request.socket.destroy());
  assert.deepEqual(cut, { kind: 'no-answer', reason: 'unreachable', why: 'cut the connection off' });
  const client = createIdpClient();
  t.after(() => client.close());
  const refused = await client.ask({ method: 'GET', url: 'http://127.0.0.1:9/', timeoutMs: 5_000 });
  assert.deepEqual(refused, { kind: 'no-answer', reason: 'unreachable', why: 'refuses connections' });
  const unknown = await client.ask({ method: 'GET', url: 'http://no.invalid/', timeoutMs: 5_000 });
  assert.equal(unknown.kind === 'no-answer' && unknown.reason, 'unreachable');
  const nonsense = await client.ask({ method: 'GET', url: 'no url', timeoutMs: 5_000 });
  assert.equal(nonsense.kind === 'no-answer' && nonsense.reason, 'unreachable');
});

test('a name that cannot be looked up is told of as such', async (t) => {
  const rows = [
    ['ENOTFOUND', 'has a name that is not known here'],
    ['EAI_AGAIN', 'has a name that could not be looked up just now'],
  ] as const;
  for (const [code, why] of rows) {
    const resolve = () => Promise.reject(Object.assign(new Error('no'), { code }));
    const client = createIdpClient({ resolve });
    t.after(() => client.close());
    const found = await client.ask({ method: 'GET', url: 'http://keycloak.test/', timeoutMs: 5_000 });
    assert.deepEqual(found, { kind: 'no-answer', reason: 'unreachable', why });
  }
});

test('by HTTPS an authority of one’s own vouches when it is named; the name must be right all the same', async (t) => {
  const validity = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 600_000) };
  const [authority, stranger] = [await makeAuthority('ours', validity), await makeAuthority('another', validity)];
  const leaf = await makeLeaf({ authority, dnsNames: ['keycloak.test'], ...validity });
  const server = createSecureServer({ cert: leaf.certificate, key: leaf.key }, (_, reply) => void reply.end('here'));
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const ask = async (host: string, authorities: string) => {
    const client = createIdpClient({ authorities, resolve: () => Promise.resolve(['127.0.0.1']) });
    t.after(() => client.close());
    const found = await client.ask({ method: 'GET', url: `https://${host}:${port}/`, timeoutMs: 5_000 });
    return found.kind === 'answer' ? found.body.toString() : found.why;
  };
  const untrusted =
    'has a certificate that no trusted authority has signed: put the certificate of its authority into identity.ca';
  assert.equal(await ask('keycloak.test', `${stranger.certificate}${authority.certificate}`), 'here');
  assert.equal(await ask('keycloak.test', ''), untrusted);
  assert.equal(await ask('keycloak.test', stranger.certificate), untrusted);
  assert.equal(await ask('other.test', authority.certificate), 'has a certificate for another name');
});
