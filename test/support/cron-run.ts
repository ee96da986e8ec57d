/** A run of a CronJob right now, made as the CronJob controller makes it at the scheduled time, and under its account. */

import { kinds } from '../../runtime/api/kinds.ts';
import { createClient, type Client } from '../../runtime/engine/client.ts';
import { systemClock } from '../../runtime/engine/clock.ts';
import type { Connection } from '../../runtime/engine/kubeconfig.ts';
import { unlimited } from '../../runtime/engine/limiter.ts';
import { createMetrics } from '../../runtime/engine/metrics.ts';
import { createTransport, type Transport } from '../../runtime/engine/transport.ts';
import type { KubeObject } from '../../runtime/engine/types.ts';
import { tokenOf } from './operator-platform.ts';
import { workloadKinds } from './workload-objects.ts';

export interface CronRun {
  readonly client: Client;
  readonly transport: Transport;
  /** The way to the API server, without anybody's identity. */
  readonly connection: Pick<Connection, 'server' | 'tls'>;
}

/** Creates the Job `<name>-run`. */
export async function runCronJob(
  { client, transport, connection }: CronRun,
  namespace: string,
  name: string,
): Promise<void> {
  const cron = await client.get(kinds.cronJob, { namespace, name });
  const { spec } = cron.spec.jobTemplate;
  const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name, uid: cron.metadata.uid ?? '', controller: true };
  const job: KubeObject & { readonly spec: unknown } = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { namespace, name: `${name}-run`, ownerReferences: [owner] },
    spec,
  };
  const token = await tokenOf(transport, { namespace: 'kube-system', name: 'cronjob-controller' });
  const controller = createClient(
    createTransport({
      connection: {
        server: connection.server,
        currentNamespace: namespace,
        authorization: () => Promise.resolve(`Bearer ${token}`),
        tls: async () => ({ ca: (await connection.tls()).ca }),
        refresh: () => {},
      },
      clock: systemClock,
      metrics: createMetrics({ process: false }),
      limiter: unlimited,
      userAgent: 'cronjob-controller',
    }),
  );
  await controller.create(workloadKinds.Job, job);
  await controller.close();
}
