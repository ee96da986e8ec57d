/** An API server without nodes, and the project's Pulumi program for it. */

import { createClient } from '../../runtime/engine/client.ts';
import { systemClock } from '../../runtime/engine/clock.ts';
import { unlimited } from '../../runtime/engine/limiter.ts';
import { createMetrics } from '../../runtime/engine/metrics.ts';
import { createTransport } from '../../runtime/engine/transport.ts';
import { startControlPlane } from '../lab/control-plane.ts';
import { portOf, reach } from '../support/engine-bed.ts';
import { startProject } from './project.ts';

export async function startPulumiBed(name: string) {
  const plane = await startControlPlane({ name, withControllerManager: true });
  const { certificatesDir, dir, kubeconfigPath } = plane;
  const connection = reach({ port: portOf(plane), certificatesDir });
  const metrics = createMetrics({ process: false });
  const transport = createTransport({ connection, clock: systemClock, metrics, limiter: unlimited, userAgent: 'user' });
  const client = createClient(transport);
  return {
    ...(await startProject({ dir, kubeconfig: kubeconfigPath, hasNodes: false })),
    plane,
    client,
    transport,
    stop: async (): Promise<void> => {
      await client.close();
      await plane.stop();
    },
  };
}
