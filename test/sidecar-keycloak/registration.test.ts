/** The role `client-registration` beside a real Keycloak: the client it makes, that it makes one, and what it says where it cannot. By HTTPS the proxy's part too. */

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { makeAuthority, makeLeaf } from '../../runtime/engine/certificate-authority.ts';
import { systemClock } from '../../runtime/engine/clock.ts';
import { createHealth } from '../../runtime/engine/health.ts';
import { createLog } from '../../runtime/engine/log.ts';
import { createMetrics } from '../../runtime/engine/metrics.ts';
import { createIdpClient } from '../../runtime/sidecar/idp/fetch.ts';
import { credentialFiles } from '../../runtime/sidecar/outbound/credentials.ts';
import { tokenRequest } from '../../runtime/sidecar/outbound/token-request.ts';
import { tokenOutcome } from '../../runtime/sidecar/outbound/token-response.ts';
import { startRegistrar } from '../../runtime/sidecar/registrar.ts';
import { register } from '../../runtime/sidecar/registration/register.ts';
import { proxySettings, registrationSettings } from '../../runtime/sidecar/settings.ts';
import { openTraffic } from '../../runtime/sidecar/traffic.ts';
import type { ClientCredentials } from '../lab/keycloak/admin.ts';
import { eventually } from '../support/engine-bed.ts';
import { bearer, head, keycloakForFile, makeRealm, type Realm, sentClaims, told } from './bed.ts';

const validity = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 3_600_000) };
const authority = await makeAuthority('one of our own', validity);
const serving = await makeLeaf({ authority, dnsNames: ['localhost'], ...validity });
const keycloak = await keycloakForFile({ serving });
const { admin } = keycloak;

/** A client of the realm whose service account may manage clients, or not. */
async function registrar(realm: Realm, mayManage: boolean): Promise<ClientCredentials> {
  const client = await admin.createClient(realm.name, { id: `registrar-${String(mayManage)}` });
  if (mayManage) await admin.allowClientManagement(realm.name, client.id);
  return client;
}

function idpFor(t: TestContext) {
  const idp = createIdpClient();
  t.after(() => idp.close());
  return idp;
}

test('the client that is made gets tokens and may exchange; asked again, or by several at once, it is one', async (t) => {
  const [idp, realm] = [idpFor(t), await makeRealm(keycloak)];
  const wish = { idp, clientId: 'team1/weather', tokenUrl: realm.tokenUrl, admin: await registrar(realm, true) };
  const secrets = await Promise.all([register(wish), register(wish), register(wish)]);
  const again = await register(wish);
  const [secret] = new Set(secrets.map((it) => ('value' in it ? it.value : assert.fail(it.fault))));
  assert.deepEqual(
    [...secrets, again],
    Array.from({ length: 4 }, () => ({ value: secret })),
  );
  const list = (await admin.request('GET', `/realms/${realm.name}/clients?clientId=team1/weather`)) as readonly {
    readonly attributes?: Readonly<Record<string, string>>;
  }[];
  assert.deepEqual(
    list.map(({ attributes }) => attributes?.['standard.token.exchange.enabled']),
    ['true'],
  );
  const token = await admin.token(realm.name, { id: 'team1/weather', secret: secret ?? '' });
  assert.match(token, /^eyJ/);
});

test('without the right, with a wrong secret, without such a realm and without Keycloak it says which', async (t) => {
  const [idp, realm] = [idpFor(t), await makeRealm(keycloak)];
  const [good, weak] = [await registrar(realm, true), await registrar(realm, false)];
  const wish = { idp, clientId: 'a/b', tokenUrl: realm.tokenUrl, admin: good };
  const cases: readonly (readonly [RegExp, Partial<typeof wish>])[] = [
    [/may not manage clients: give the service account/, { admin: weak }],
    [/does not take the admin credentials \(unauthorized_client\)/, { admin: { ...good, secret: 'wrong' } }],
    [/no OAuth error|does not take/, { tokenUrl: realm.tokenUrl.replace(realm.name, 'nowhere') }],
    [/refuses connections/, { tokenUrl: 'http://127.0.0.1:9/realms/a/protocol/openid-connect/token' }],
    [/set identity\.url and identity\.realm/, { tokenUrl: 'http://127.0.0.1:9/token' }],
  ];
  for (const [says, change] of cases) {
    const got = await register({ ...wish, ...change });
    assert.match('fault' in got ? got.fault : '', says);
  }
});

function emptyFolder(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'registration-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

function writeCredentials(folder: string, { id, secret }: ClientCredentials): void {
  writeFileSync(path.join(folder, credentialFiles.secret), secret);
  writeFileSync(path.join(folder, credentialFiles.id), `${id}\n`);
}

function recorded() {
  const written: string[] = [];
  const log = createLog({ name: 'test', level: 'debug', write: (line) => void written.push(line) });
  return { log, lines: () => written.join('') };
}

/** What the role's container is told. */
function registrationOf(tokenUrl: string, { own, admins, ca = '' }: { own: string; admins: string; ca?: string }) {
  return registrationSettings({
    CLIENT_ID: 'team1/weather',
    TOKEN_URL: tokenUrl,
    IDP_CA: ca,
    CREDENTIALS_DIR: own,
    ADMIN_CREDENTIALS_DIR: admins,
  });
}

test('the role waits for the admin credentials, writes both files for itself alone, and logs no secret', async (t) => {
  const realm = await makeRealm(keycloak);
  const [own, admins] = [emptyFolder(t), emptyFolder(t)];
  const { log, lines } = recorded();
  const running = await startRegistrar(registrationOf(realm.tokenUrl, { own, admins }), { log });
  t.after(() => running.stop());
  await eventually(() => assert.match(lines(), /there are no admin credentials in .*: make the Secret/));
  const held = await registrar(realm, true);
  writeCredentials(admins, held);
  await eventually(() => assert.equal(readdirSync(own).length, 2), 60_000);
  const file = (name: string) => path.join(own, name);
  assert.equal(readFileSync(file('client-id.txt'), 'utf8'), 'team1/weather');
  const secret = readFileSync(file('client-secret.txt'), 'utf8');
  await admin.token(realm.name, { id: 'team1/weather', secret });
  for (const name of readdirSync(own)) assert.equal(statSync(file(name)).mode & 0o777, 0o600);
  assert.ok(!lines().includes(secret) && !lines().includes(held.secret));
});

/** A realm's URL by HTTPS. */
const secure = (url: string): string => url.replace(keycloak.url, keycloak.secureUrl ?? assert.fail('no HTTPS'));

const untrusted = /has a certificate that no trusted authority has signed: [^"]*identity\.ca/;

test('by HTTPS the role registers where identity.ca names the authority, and else says that it must', async (t) => {
  const realm = await makeRealm(keycloak);
  const admins = emptyFolder(t);
  writeCredentials(admins, await registrar(realm, true));
  const started = async (ca: string) => {
    const [own, { log, lines }] = [emptyFolder(t), recorded()];
    const running = await startRegistrar(registrationOf(secure(realm.tokenUrl), { own, admins, ca }), { log });
    t.after(() => running.stop());
    return { own, lines };
  };
  const [without, named] = [await started(''), await started(authority.certificate)];
  await eventually(() => assert.match(named.lines(), /"msg":"the agent is registered"/));
  const secret = readFileSync(path.join(named.own, credentialFiles.secret), 'utf8');
  await admin.token(realm.name, { id: 'team1/weather', secret });
  await eventually(() => assert.match(without.lines(), untrusted));
  assert.deepEqual(readdirSync(without.own), []);
});

/** A caller's token got by HTTPS: Keycloak names itself in it as it was asked. */
async function tokenBySecure(t: TestContext, { tokenUrl, caller }: Realm): Promise<string> {
  const idp = createIdpClient({ authorities: authority.certificate });
  t.after(() => idp.close());
  const wish = { audience: '', scopes: [], tokenUrl: '', subject: undefined };
  const request = tokenRequest(wish, { method: 'client_secret_basic', ...caller });
  const answer = await idp.ask({ method: 'POST', url: secure(tokenUrl), ...request, timeoutMs: 10_000 });
  const outcome = tokenOutcome(wish, answer, 0);
  return outcome.kind === 'token' ? outcome.token : assert.fail(outcome.kind);
}

test('by HTTPS the proxy checks and exchanges tokens where identity.ca names the authority, and else says that it must', async (t) => {
  const realm = await makeRealm(keycloak);
  const credentials = emptyFolder(t);
  writeCredentials(credentials, realm.agent);
  const issuer = secure(realm.issuer);
  const opened = async (ca: string) => {
    const settings = proxySettings({
      POD_NAMESPACE: 'team1',
      POD_NAME: 'weather',
      HEALTH_PORT: '1',
      INBOUND_PORT: '1',
      OUTBOUND_PORT: '1',
      ADMIN_PORT: '1',
      BYPASS_PATHS: '[]',
      PLAIN_TCP: 'allow',
      ISSUER: issuer,
      IDP_CA: ca,
      ROUTES: '[{ "host": "10.0.0.7", "audience": "tool-x", "scopes": ["tool-aud"] }]',
      CREDENTIALS_DIR: credentials,
    });
    const [{ log, lines }, health] = [recorded(), createHealth()];
    t.after(() => health.stop());
    const metrics = createMetrics({ process: false });
    const traffic = await openTraffic(settings, { clock: systemClock, log, metrics, health, identity: undefined });
    t.after(() => traffic.close());
    const decided = async (direction: 'inbound' | 'outbound', token: string) =>
      traffic.rules[direction](head(direction, '10.0.0.7', bearer(token)), AbortSignal.timeout(10_000));
    return { decided, lines, degraded: () => JSON.stringify(health.readyz().degraded) };
  };
  const [without, named] = [await opened(''), await opened(authority.certificate)];
  const token = await tokenBySecure(t, realm);

  assert.equal(told(await named.decided('inbound', token)), 'token');
  assert.equal(sentClaims(await named.decided('outbound', token))['aud'], 'tool-x');
  assert.equal(named.degraded(), '[]');

  assert.equal(told(await without.decided('inbound', token)), '503 keys_unavailable keys-unavailable');
  const refused = await without.decided('outbound', token);
  assert.equal(told(refused), '503 idp_unavailable unavailable');
  assert.match(without.degraded(), /"name":"issuer-keys","ok":false,"reason":"[^"]*identity\.ca"/);
  for (const about of ['issuer keys could not be fetched', 'no token for a call of the agent']) {
    const line = without
      .lines()
      .split('\n')
      .find((each) => each.includes(about));
    assert.match(line ?? '', untrusted, about);
  }
});
