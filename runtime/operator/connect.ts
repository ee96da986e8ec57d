/** The clients of this process: for its work, for what somebody waits for, and for the lease alone, over the same credentials. */

import { userAgent } from '../api/names.ts';
import { type Client, createClient } from '../engine/client.ts';
import type { Clock } from '../engine/clock.ts';
import { type Connection, inClusterConnection, kubeconfigConnection } from '../engine/kubeconfig.ts';
import { createLimiter, unlimited } from '../engine/limiter.ts';
import type { Metrics } from '../engine/metrics.ts';
import { createTransport, type Transport } from '../engine/transport.ts';
import type { Settings } from './settings.ts';

/** By kubeconfig when one is given, else by the pod's own account. Throws `InvalidKubeconfig`. */
export async function connect(settings: Settings, clock: Clock): Promise<Connection> {
  const { kubeconfig, context, apiServerHost, apiServerPort } = settings;
  if (kubeconfig !== '') return kubeconfigConnection({ path: kubeconfig, context: context || undefined }, clock);
  return inClusterConnection({ host: apiServerHost, port: apiServerPort }, clock);
}

export interface Clients {
  readonly work: Client;
  /** Reads that never wait behind what the controllers do: of admissions, which the API server waits for, and of the end of the process. */
  readonly prompt: Client;
  /** Renewals never wait behind other requests. */
  readonly lease: Client;
  readonly transport: Transport;
  close(): Promise<void>;
}

export function createClients(options: {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly settings: Settings;
}): Clients {
  const { connection, clock, metrics, settings } = options;
  const shared = { connection, clock, metrics, userAgent: `${userAgent}/${settings.podName}` };
  const transport = createTransport({
    ...shared,
    limiter: createLimiter({ perSecond: settings.qps, burst: settings.burst }, clock),
  });
  const promptTransport = createTransport({ ...shared, limiter: unlimited });
  const leaseTransport = createTransport({
    ...shared,
    limiter: createLimiter({ perSecond: 10, burst: 20 }, clock),
    deadlineMs: 5_000,
  });
  const work = createClient(transport);
  const prompt = createClient(promptTransport);
  const lease = createClient(leaseTransport);
  return {
    work,
    prompt,
    lease,
    transport,
    close: async () => {
      await Promise.all([work, prompt, lease].map((client) => client.close()));
    },
  };
}
