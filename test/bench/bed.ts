/** A control plane with the platform installed, and the operator started and stopped beside it as often as a scenario wants. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CardProps, verificationFlags } from '../../constructs/verification.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import { install as names, webhookConfigurations } from '../../runtime/api/names.ts';
import type { Client } from '../../runtime/engine/client.ts';
import type { Kind, KubeObject } from '../../runtime/engine/types.ts';
import { type ControlPlane, startControlPlane } from '../lab/control-plane.ts';
import { findFreePort } from '../lab/ports.ts';
import { type Bed, createBed, portOf, reach } from '../support/engine-bed.ts';
import { type Audit, openAudit } from './audit.ts';
import { ends } from './cleanup.ts';
import { installGatekeepers, installPlatform, operatorAccount } from './installation.ts';
import { type OperatorProcess, startOperatorProcess } from './operator-process.ts';

export interface BenchBed {
  readonly plane: ControlPlane;
  /** The administrator's. */
  readonly client: Client;
  readonly users: Bed;
  readonly audit: Audit;
  readonly webhookPort: number;
  /** PEM of the administrator, for load through the API server. */
  readonly admin: { readonly ca: string; readonly cert: string; readonly key: string };
  /** Stops the operator that runs, if any, and starts another. */
  restartOperator(nodeFlags?: readonly string[]): Promise<OperatorProcess>;
  /** The one that runs; started and ready when there was none. */
  operator(): Promise<OperatorProcess>;
  /** The policy and the webhooks: what is created before is not asked about. */
  closeGates(): Promise<void>;
  /** The authority of the serving certificate, once the operator has published it. */
  webhookAuthority(): Promise<string>;
  stop(): Promise<void>;
}

export interface BenchBedOptions {
  readonly name: string;
  readonly bundle: string;
  readonly withControllerManager: boolean;
  /** How cards are dealt with. Default: as an install that says nothing of them. */
  readonly cards?: CardProps;
}

export async function startBenchBed(options: BenchBedOptions): Promise<BenchBed> {
  const { name, bundle, withControllerManager, cards = {} } = options;
  const plane = await startControlPlane({ name: `bench-${name}`, audit: true, withControllerManager });
  const stop = ends(() => plane.stop());
  const users = createBed(reach({ port: portOf(plane), certificatesDir: plane.certificatesDir }), {
    userAgent: 'bench',
  });
  const { client } = users;
  const ports = { webhook: await findFreePort(), health: await findFreePort(), metrics: await findFreePort() };
  const file = (name: string): string => path.join(plane.certificatesDir, name);
  const read = (name: string): string => readFileSync(file(name), 'utf8');
  await installPlatform(client, ports.webhook, cards);
  const token = await accountToken(client);
  const { dir, server } = plane;
  const place = { dir, bundle, server, caPath: file('ca.crt'), token, ports, flags: verificationFlags(cards) };
  let current: OperatorProcess | undefined;
  const restartOperator: BenchBed['restartOperator'] = async (nodeFlags) => {
    await current?.stop();
    current = startOperatorProcess({ ...place, ...(nodeFlags && { nodeFlags }) });
    return current;
  };
  return {
    plane,
    client,
    users,
    audit: openAudit(plane.auditLogPath ?? '', operatorAccount),
    webhookPort: ports.webhook,
    admin: { ca: read('ca.crt'), cert: read('admin.crt'), key: read('admin.key') },
    restartOperator,
    operator: async () => {
      if (current !== undefined) return current;
      const started = await restartOperator();
      await started.untilReady();
      return started;
    },
    closeGates: () => installGatekeepers(client, ports.webhook),
    webhookAuthority: () => webhookAuthority(client),
    stop: async () => {
      await current?.stop();
      await users.close();
      await stop();
    },
  };
}

interface TokenRequest extends KubeObject {
  readonly status?: { readonly token: string };
}

async function accountToken(client: Client): Promise<string> {
  const kind: Kind<TokenRequest> = {
    apiVersion: 'v1',
    kind: 'TokenRequest',
    plural: `serviceaccounts/${names.serviceAccount}/token`,
    namespaced: true,
  };
  const made = await client.create(kind, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: { namespace: names.namespace },
  });
  return made.status?.token ?? '';
}

async function webhookAuthority(client: Client): Promise<string> {
  for (;;) {
    const { webhooks = [] } = await client.get(kinds.mutatingWebhookConfiguration, {
      name: webhookConfigurations.injector,
    });
    const bundle = webhooks[0]?.clientConfig.caBundle ?? '';
    if (bundle !== '') return Buffer.from(bundle, 'base64').toString('utf8');
    await sleep(20);
  }
}
