/** A real API server that calls a webhook server of this process, and a load of admissions through it. */

import { Buffer } from 'node:buffer';
import { setTimeout as sleep } from 'node:timers/promises';
import { kinds } from '../../runtime/api/kinds.ts';
import type { ConfigMap, WebhookConfiguration } from '../../runtime/api/kubernetes.ts';
import { createAdmission } from '../../runtime/engine/admission.ts';
import type { CertificateOptions } from '../../runtime/engine/certificates.ts';
import { type Client, createClient, liveReader } from '../../runtime/engine/client.ts';
import { systemClock } from '../../runtime/engine/clock.ts';
import { createHealth } from '../../runtime/engine/health.ts';
import { kubeconfigConnection } from '../../runtime/engine/kubeconfig.ts';
import { unlimited } from '../../runtime/engine/limiter.ts';
import { createMetrics } from '../../runtime/engine/metrics.ts';
import { type ServingCertificate, serveWebhooks } from '../../runtime/engine/server.ts';
import { createTransport } from '../../runtime/engine/transport.ts';
import type { Live, Webhook } from '../../runtime/engine/types.ts';
import { type ControlPlane, startControlPlane } from '../lab/control-plane.ts';
import { captureLog } from '../runtime/engine/admission-fixtures.ts';
import { patienceMs } from '../support/engine-bed.ts';

export const secretKey = { namespace: 'default', name: 'webhook-certificate' };
export const labels = { 'app.kubernetes.io/managed-by': 'rossoctl-operator' };
export const configurationKind = kinds.mutatingWebhookConfiguration;

export interface Cluster {
  readonly plane: ControlPlane;
  readonly client: Client;
  stop(): Promise<void>;
}

export async function startCluster(): Promise<Cluster> {
  const plane = await startControlPlane({ name: 'admission' });
  const connection = await kubeconfigConnection({ path: plane.kubeconfigPath }, systemClock);
  const metrics = createMetrics({ process: false });
  const client = createClient(
    createTransport({ connection, clock: systemClock, metrics, limiter: unlimited, userAgent: 'rossoctl-test' }),
  );
  const stop = async (): Promise<void> => {
    await client.close();
    await plane.stop();
  };
  return { plane, client, stop };
}

/** What a keeper needs, against this cluster; `overrides` win. */
export function keeperOptions({ client }: Cluster, overrides: Partial<CertificateOptions> = {}) {
  const health = createHealth();
  const metrics = createMetrics({ process: false });
  const { log, lines } = captureLog();
  const options: CertificateOptions = {
    client,
    reader: liveReader(client),
    secret: { kind: kinds.secret, key: secretKey },
    labels,
    fieldManager: 'rossoctl-certificates',
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
    configurations: [{ kind: configurationKind, name: 'hooks' }],
    endpoint: { url: 'https://127.0.0.1:' },
    health,
    metrics,
    log,
    settleMs: 500,
    lookEveryMs: 100,
    ...overrides,
  };
  return { options, health, metrics, lines };
}

export async function serve(certificate: Live<ServingCertificate>) {
  const health = createHealth();
  const metrics = createMetrics({ process: false });
  const { log } = captureLog();
  const webhook: Webhook<ConfigMap> = {
    name: 'inject.rossoctl.io',
    path: '/mutate',
    kind: kinds.configMap,
    review: ({ object }) => {
      if (object === undefined) return Promise.reject(new Error('no object'));
      const metadata = {
        ...object.metadata,
        annotations: { ...object.metadata.annotations, 'corp.example/seen': 'yes' },
      };
      return Promise.resolve({ kind: 'mutate', reason: 'Injected', note: 'seen', object: { ...object, metadata } });
    },
  };
  return serveWebhooks({
    port: 0,
    host: '127.0.0.1',
    certificate,
    webhooks: [webhook as unknown as Webhook],
    admission: createAdmission({ log, metrics }),
    health,
    log,
  });
}

/** As the installer writes it: two webhooks, `failurePolicy: Fail`, no caBundle. */
export function configuration(port: number, name = 'hooks'): WebhookConfiguration {
  const hook = (hookName: string) => ({
    name: hookName,
    clientConfig: { url: `https://127.0.0.1:${port}/mutate` },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
    objectSelector: { matchLabels: { admit: hookName.split('.')[0] ?? '' } },
    failurePolicy: 'Fail',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 5,
  });
  const { apiVersion, kind } = configurationKind;
  return { apiVersion, kind, metadata: { name }, webhooks: [hook('inject.rossoctl.io'), hook('other.rossoctl.io')] };
}

export async function install({ client }: Cluster, object: WebhookConfiguration): Promise<void> {
  const body = object as WebhookConfiguration & Readonly<Record<string, unknown>>;
  await client.apply({ kind: configurationKind, body }, { fieldManager: 'installer' });
}

export async function bundle({ client }: Cluster, name = 'hooks'): Promise<string> {
  const { webhooks = [] } = await client.get(configurationKind, { name });
  return Buffer.from(webhooks[0]?.clientConfig.caBundle ?? '', 'base64').toString();
}

export async function setBundle({ client }: Cluster, pem: string, name = 'hooks'): Promise<void> {
  const value = Buffer.from(pem).toString('base64');
  const operations = [0, 1].map((at) => ({ op: 'add', path: `/webhooks/${at}/clientConfig/caBundle`, value }));
  await client.jsonPatch({ kind: configurationKind, name }, operations);
}

/** One admission by the API server, as a dry run. Resolves with what went wrong. */
export async function admit({ client }: Cluster): Promise<string | undefined> {
  const options = { dryRun: true, retries: 0 };
  const metadata = { namespace: 'default', generateName: 'admit-', labels: { admit: 'inject' } };
  try {
    const made = await client.create<ConfigMap>(
      kinds.configMap,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata },
      options,
    );
    return made.metadata.annotations?.['corp.example/seen'] === 'yes' ? undefined : 'admitted without the webhook';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** At most so many at once: on a starved machine more would only wait for each other, and for longer than the API server does. */
const mostOpen = 25;

/** 50 admissions a second from now until `stop`, which tells what failed. */
export function load(cluster: Cluster, perSecond = 50) {
  const failures: string[] = [];
  const open = new Set<Promise<string | undefined>>();
  let count = 0;
  const timer = setInterval(() => {
    if (open.size >= mostOpen) return;
    count += 1;
    const one = admit(cluster);
    open.add(one);
    void one.then((failure) => {
      if (failure !== undefined) failures.push(failure);
      return open.delete(one);
    });
  }, 1000 / perSecond);
  const stop = async () => {
    clearInterval(timer);
    await Promise.all(open);
    return { count, failures };
  };
  return { stop, failures };
}

export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`not within ${patienceMs} ms: ${what}`);
    await sleep(50);
  }
}

/** The API server has noticed the configuration, trusts us and calls us. */
export async function untilAdmitted(cluster: Cluster): Promise<void> {
  let failure: string | undefined;
  const isAdmitted = async (): Promise<boolean> => {
    failure = await admit(cluster);
    return failure === undefined;
  };
  await until('an admission', isAdmitted).catch((error: unknown) => {
    throw new Error(`the API server does not admit: ${failure}`, { cause: error });
  });
}
