/** The role `spiffe-helper`: the pod's identity as files, with health and metrics beside. */

import { createHealth } from '../engine/health.ts';
import { createMetrics } from '../engine/metrics.ts';
import { serveStatus } from '../engine/status-server.ts';
import type { Log } from '../engine/types.ts';
import type { HelperSettings } from './settings.ts';
import { runSpiffeHelper } from './spiffe/helper.ts';

export interface Helper {
  /** Never: that the SPIRE agent is not there is a state. */
  readonly failed: Promise<string>;
  stop(): Promise<void>;
}

/** Runs until it is stopped. The files stay: they are good until the identity ends. */
export async function startHelper(settings: HelperSettings, log: Log): Promise<Helper> {
  const metrics = createMetrics();
  const health = createHealth();
  const status = await serveStatus({ port: settings.healthPort, health, metrics });
  const ending = new AbortController();
  const { spiffe, pod, directory, audiences } = settings;
  const running = runSpiffeHelper({ ...spiffe, pod, directory, audiences }, { log, metrics, health }, ending.signal);
  return {
    failed: new Promise(() => undefined),
    stop: async () => {
      ending.abort();
      await running;
      health.stop();
      await status.close();
    },
  };
}
