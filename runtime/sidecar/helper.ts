/** The role `spiffe-helper`: the pod's identity as files, with health and metrics beside. */

import type { Log } from '../engine/types.ts';
import { openStatus, type Running } from './running.ts';
import type { HelperSettings } from './settings.ts';
import { runSpiffeHelper } from './spiffe/helper.ts';

/** Runs until it is stopped. The files stay: they are good until the identity ends. */
export async function startHelper(settings: HelperSettings, log: Log): Promise<Running> {
  const status = await openStatus(settings.healthPort);
  const ending = new AbortController();
  const { spiffe, pod, directory, audiences } = settings;
  const running = runSpiffeHelper({ ...spiffe, pod, directory, audiences }, { log, ...status }, ending.signal);
  return {
    // Never: that the SPIRE agent is not there is a state.
    failed: new Promise(() => undefined),
    stop: async () => {
      ending.abort();
      await running;
      await status.close();
    },
  };
}
