/** The role `client-registration`: the agent as an OAuth client of Keycloak, its id and secret in files, looked after as long as the pod runs. */

import { delayMs } from '../engine/back-off.ts';
import { type Clock, pause, systemClock } from '../engine/clock.ts';
import { sentenceOf } from '../engine/errors.ts';
import type { Log } from '../engine/types.ts';
import { createIdpClient } from './idp/fetch.ts';
import { openCredentials } from './outbound/files.ts';
import { openFinder } from './outbound/find.ts';
import { writeCredentials } from './registration/files.ts';
import { register } from './registration/register.ts';
import type { Running } from './running.ts';
import type { RegistrationSettings } from './settings.ts';

const backOff = { baseMs: 1_000, capMs: 60_000, jitter: 0 };
/** A secret that was changed in Keycloak is in the files this much later at most, in milliseconds. */
const againMs = 300_000;

/** Runs until it is stopped. That Keycloak or the admin credentials are away is a state: it is tried again, and the log says why once. */
export async function startRegistrar(
  settings: RegistrationSettings,
  { log, clock = systemClock }: { readonly log: Log; readonly clock?: Clock },
): Promise<Running> {
  // The agent may write its pod's /etc/hosts, and would be sent the admin secret: the file is read once, and before the agent starts.
  const idp = createIdpClient({ connections: 1, resolve: await openFinder(), authorities: settings.idpAuthorities });
  const admin = await openCredentials({ directory: settings.adminCredentialsDir, log });
  const ending = new AbortController();
  const running = keepRegistered();

  async function keepRegistered(): Promise<void> {
    let failures = 0;
    let told: string | undefined;
    while (!ending.signal.aborted) {
      const fault = await turn().catch((error: unknown) => sentenceOf(error));
      if (fault !== undefined && fault !== told) log.error('the agent is not registered', { reason: fault });
      told = fault;
      const ms = fault === undefined ? againMs : delayMs(backOff, failures++, () => 0);
      if (fault === undefined) failures = 0;
      await pause(clock, ms, ending.signal);
    }
  }

  /** Why it did not come about; undefined: it is registered, and the files say so. */
  async function turn(): Promise<string | undefined> {
    const { clientId, tokenUrl, credentialsDir } = settings;
    const held = admin.current;
    if (held.kind === 'missing' || held.secret === undefined) return missingAdmin(settings);
    const secret = await register({ idp, clientId, tokenUrl, admin: { id: held.id, secret: held.secret } });
    if ('fault' in secret) return secret.fault;
    const isChanged = await writeCredentials(credentialsDir, { id: clientId, secret: secret.value });
    if (isChanged) log.info('the agent is registered', { client: clientId });
    return undefined;
  }

  return {
    failed: new Promise(() => undefined),
    stop: async () => {
      ending.abort();
      admin.stop();
      await idp.close();
      await running;
    },
  };
}

function missingAdmin({ adminCredentialsDir }: RegistrationSettings): string {
  return `there are no admin credentials in ${adminCredentialsDir}: make the Secret that identity.adminCredentialsSecret names in this namespace, with keys client-id.txt and client-secret.txt`;
}
