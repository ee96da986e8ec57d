/** What the roles that run until a signal have in common: how they end, and where they are asked how they are. */

import { createHealth, type Health } from '../engine/health.ts';
import { createMetrics, type Metrics } from '../engine/metrics.ts';
import { serveStatus } from '../engine/status-server.ts';

/** A role that has been started. */
export interface Running {
  /** Resolves with the reason when it can go on no longer; never for a role that always can. */
  readonly failed: Promise<string>;
  /** Lets what is under way finish, then ends everything. */
  stop(): Promise<void>;
}

/** Health and metrics, served from the beginning; `close` is the last thing of a stop, so that an ending role can still say so. */
export interface Status {
  readonly health: Health;
  readonly metrics: Metrics;
  close(): Promise<void>;
}

/** Listens on the port where the kubelet and Prometheus ask. */
export async function openStatus(port: number): Promise<Status> {
  const metrics = createMetrics();
  const health = createHealth();
  const server = await serveStatus({ port, health, metrics, metricsAgeMs: 1_000 });
  return {
    health,
    metrics,
    close: async () => {
      health.stop();
      await server.close();
    },
  };
}
