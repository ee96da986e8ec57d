/** The role `client-registration` beside a real Keycloak: the client it makes, that it makes one, and what it says where it cannot. */

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { createLog } from '../../runtime/engine/log.ts';
import { createIdpClient } from '../../runtime/sidecar/idp/fetch.ts';
import { startRegistrar } from '../../runtime/sidecar/registrar.ts';
import { register } from '../../runtime/sidecar/registration/register.ts';
import type { ClientCredentials } from '../lab/keycloak/admin.ts';
import { eventually } from '../support/engine-bed.ts';
import { keycloakForFile, makeRealm, type Realm } from './bed.ts';

const keycloak = await keycloakForFile();
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

test('the role waits for the admin credentials, writes both files for itself alone, and logs no secret', async (t) => {
  const realm = await makeRealm(keycloak);
  const folder = mkdtempSync(path.join(tmpdir(), 'registrar-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const [credentialsDir, adminCredentialsDir] = [path.join(folder, 'own'), path.join(folder, 'admin')];
  for (const each of [credentialsDir, adminCredentialsDir]) mkdirSync(each);
  const lines: string[] = [];
  const log = createLog({
    name: 'client-registration',
    level: 'debug',
    write: (line) => void lines.push(line),
  });
  const settings = {
    clientId: 'team1/weather',
    tokenUrl: realm.tokenUrl,
    idpAuthorities: '',
    credentialsDir,
    adminCredentialsDir,
  };
  const running = await startRegistrar(settings, { log });
  t.after(() => running.stop());
  await eventually(() => assert.match(lines.join(''), /there are no admin credentials in .*admin: make the Secret/));
  const held = await registrar(realm, true);
  writeFileSync(path.join(adminCredentialsDir, 'client-secret.txt'), held.secret);
  writeFileSync(path.join(adminCredentialsDir, 'client-id.txt'), `${held.id}\n`);
  await eventually(() => assert.equal(readdirSync(credentialsDir).length, 2), 60_000);
  const file = (name: string) => path.join(credentialsDir, name);
  assert.equal(readFileSync(file('client-id.txt'), 'utf8'), 'team1/weather');
  const secret = readFileSync(file('client-secret.txt'), 'utf8');
  await admin.token(realm.name, { id: 'team1/weather', secret });
  for (const name of readdirSync(credentialsDir)) assert.equal(statSync(file(name)).mode & 0o777, 0o600);
  assert.ok(!lines.join('').includes(secret) && !lines.join('').includes(held.secret));
});
