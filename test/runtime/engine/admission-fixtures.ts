/** Admission reviews, webhooks and a running webhook server, for the tests of this folder. */

import type { Pod } from '../../../runtime/api/kubernetes.ts';
import { kinds } from '../../../runtime/api/kinds.ts';
import { createAdmission } from '../../../runtime/engine/admission.ts';
import { makeAuthority, makeLeaf } from '../../../runtime/engine/certificate-authority.ts';
import { createHealth } from '../../../runtime/engine/health.ts';
import { createLog } from '../../../runtime/engine/log.ts';
import { createMetrics } from '../../../runtime/engine/metrics.ts';
import { type ServingCertificate, type WebhookServerOptions, serveWebhooks } from '../../../runtime/engine/server.ts';
import type { AdmissionRequest, Live, Verdict, Webhook } from '../../../runtime/engine/types.ts';

export const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { generateName: 'agent-5d9c-', labels: { 'rossoctl.io/type': 'agent' } },
  spec: { containers: [{ name: 'app', image: 'example/app' }] },
};

/** A review as the API server sends it. */
export function reviewOf(request: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
      kind: { group: '', version: 'v1', kind: 'Pod' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      namespace: 'team',
      operation: 'CREATE',
      userInfo: { username: 'system:serviceaccount:kube-system:replicaset-controller' },
      object: pod,
      oldObject: null,
      dryRun: false,
      ...request,
    },
  };
}

export type Review = (request: AdmissionRequest<Pod>) => Promise<Verdict<Pod>>;

export const allow: Review = () => Promise.resolve({ kind: 'allow', reason: 'NotEnrolled', note: 'no AgentRuntime' });

/** What an injector does, in small. */
export const inject: Review = ({ object }) => {
  if (object === undefined) return Promise.reject(new Error('no object'));
  const spec = { ...object.spec, containers: [...object.spec.containers, { name: 'side', image: 'example/side' }] };
  return Promise.resolve({ kind: 'mutate', reason: 'Injected', note: 'injected', object: { ...object, spec } });
};

export function webhook(review: Review = allow): Webhook<Pod> {
  return { name: 'inject.rossoctl.io', path: '/mutate', kind: kinds.pod, review };
}

export function captureLog() {
  const lines: string[] = [];
  return { log: createLog({ level: 'debug', name: 'test', write: (line) => lines.push(line) }), lines };
}

const hourMs = 3_600_000;
export const validity = (fromMs = -hourMs, untilMs = hourMs) => ({
  notBefore: new Date(Date.now() + fromMs),
  notAfter: new Date(Date.now() + untilMs),
});

/** An authority, and leaves for this machine signed by it. */
export async function testAuthority(name = 'test authority') {
  const authority = await makeAuthority(name, validity());
  const leaf = (): Promise<ServingCertificate> =>
    makeLeaf({ authority, dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'], ...validity() });
  return { authority, leaf };
}

/** A live value that the test sets. */
export function settable<T>(first: T): Live<T> & { set(value: T): void } {
  let current = first;
  const listeners = new Set<(value: T) => void>();
  return {
    get current() {
      return current;
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    set: (value) => {
      current = value;
      for (const listener of listeners) listener(value);
    },
  };
}

export interface RunningOptions extends Partial<WebhookServerOptions> {
  readonly review?: Review;
  readonly maxInFlight?: number;
}

/** A webhook server on a free port of this machine, with one webhook at `/mutate`. */
export async function runningServer(options: RunningOptions = {}) {
  const { authority, leaf } = await testAuthority();
  const certificate = settable(await leaf());
  const metrics = createMetrics({ process: false });
  const health = createHealth();
  const { log, lines } = captureLog();
  const admission = createAdmission({ log, metrics, ...options });
  const hook: Webhook = webhook(options.review) as unknown as Webhook;
  const server = await serveWebhooks({
    port: 0,
    host: '127.0.0.1',
    certificate,
    webhooks: [hook],
    admission,
    health,
    log,
    ...options,
  });
  const stop = async (): Promise<void> => {
    await server.close({ lingerMs: 0, graceMs: 100 });
    health.stop();
  };
  return {
    server,
    authority,
    leaf,
    certificate,
    metrics,
    health,
    admission,
    lines,
    stop,
    url: `https://127.0.0.1:${server.port}`,
  };
}
