/** The injection webhook served to a real API server, beside a second webhook that meddles with what was injected. */

import { Buffer } from 'node:buffer';
import { crdManifest, crdSources } from '../../constructs/crds.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import type { Container, Pod, WebhookConfiguration } from '../../runtime/api/kubernetes.ts';
import { install, webhooks } from '../../runtime/api/names.ts';
import { authBridgeReads, createAuthBridgeWebhook } from '../../runtime/authbridge/webhook.ts';
import { configWatches, createLayerReader, type FileText } from '../../runtime/config/read.ts';
import { createAdmission } from '../../runtime/engine/admission.ts';
import { makeAuthority, makeLeaf } from '../../runtime/engine/certificate-authority.ts';
import { liveReader } from '../../runtime/engine/client.ts';
import { createHealth } from '../../runtime/engine/health.ts';
import { serveWebhooks } from '../../runtime/engine/server.ts';
import type { AdmissionRequest, KubeObject, Live, Verdict, Watch, Webhook } from '../../runtime/engine/types.ts';
import { startControlPlane } from '../lab/control-plane.ts';
import { type Bed, createBed, eventually, portOf, reach } from '../support/engine-bed.ts';

const noFile: Live<FileText> = {
  current: { text: undefined, path: '/etc/rossoctl/config.yaml' },
  subscribe: () => () => {},
};

const meddling = { name: 'meddler.example.test', path: '/meddle' };

/** What another injector may do: something to envoy-proxy, and one annotation. */
const meddler = (change: (container: Container) => object): Webhook<Pod> => ({
  ...meddling,
  kind: kinds.pod,
  review: ({ object }) => {
    if (object === undefined || object.metadata.annotations?.['example.test/meddled'] === 'yes') {
      return Promise.resolve({ kind: 'allow', reason: 'Done', note: '' });
    }
    const changed = (container: Container) =>
      container.name === 'envoy-proxy' ? { ...container, ...change(container) } : container;
    const spec = { ...object.spec, initContainers: object.spec.initContainers?.map(changed) };
    const metadata = {
      ...object.metadata,
      annotations: { ...object.metadata.annotations, 'example.test/meddled': 'yes' },
    };
    return Promise.resolve({
      kind: 'mutate',
      reason: 'Meddled',
      note: '',
      object: { ...object, metadata, spec } as Pod,
    });
  },
});

export interface InjectionBedOptions {
  /** Default false: no controller makes pods. */
  readonly withControllerManager?: boolean;
  /** What the other webhook does to envoy-proxy. Default: other resources. */
  readonly meddle?: (container: Container) => object;
}

export async function startInjectionBed(
  name: string,
  {
    withControllerManager = false,
    meddle = () => ({ resources: { limits: { cpu: '700m' } } }),
  }: InjectionBedOptions = {},
) {
  const plane = await startControlPlane({ name, withControllerManager });
  const bed = createBed(reach({ port: portOf(plane), certificatesDir: plane.certificatesDir }));
  const { client } = bed;
  for (const source of crdSources)
    await client.create(kinds.customResourceDefinition, crdManifest(source) as unknown as KubeObject);
  await eventually(() => client.list(kinds.agentRuntime));
  for (const namespace of [install.namespace, 'team1']) {
    await client.create(kinds.namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    const body = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace } };
    await client.apply({ kind: kinds.serviceAccount, body }, { fieldManager: 'test' });
  }
  const driver = { apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name: 'csi.spiffe.io' }, spec: {} };
  await client.create(kinds.csiDriver, driver);
  const served = await serve(bed, meddler(meddle));
  return {
    client,
    kubeconfigPath: plane.kubeconfigPath,
    /** Each request our webhook was asked, with its answer. */
    asked: served.asked,
    stop: async () => {
      await served.close();
      await bed.close();
      await plane.stop();
    },
  };
}

interface Asked {
  readonly request: AdmissionRequest<Pod>;
  readonly verdict: Verdict<Pod>;
}

async function serve(bed: Bed, other: Webhook<Pod>) {
  const { client, clock, log, metrics } = bed;
  const cache = bed.newCache();
  const watches = configWatches(install.namespace);
  const needed = [...authBridgeReads, watches.platform, watches.gates, watches.defaults] as readonly Watch[];
  await Promise.all(needed.map((watch) => cache.synced(watch)));
  const ours = createAuthBridgeWebhook({
    reader: cache,
    live: liveReader(client),
    layers: createLayerReader({ watches, operatorNamespace: install.namespace, configFile: noFile, gatesFile: noFile }),
    nativeSidecars: () => true,
    operatorNamespace: install.namespace,
  });
  const asked: Asked[] = [];
  const recorded: Webhook<Pod> = {
    ...ours,
    review: async (request) => {
      const verdict = await ours.review(request);
      asked.push({ request, verdict });
      return verdict;
    },
  };
  const validity = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 3_600_000) };
  const authority = await makeAuthority('test', validity);
  const leaf = await makeLeaf({ authority, dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'], ...validity });
  const server = await serveWebhooks({
    port: 0,
    host: '127.0.0.1',
    certificate: { current: leaf, subscribe: () => () => {} },
    webhooks: [recorded, other] as unknown as readonly Webhook[],
    admission: createAdmission({ log, metrics, clock }),
    health: createHealth(),
    log,
  });
  const caBundle = Buffer.from(authority.certificate).toString('base64');
  for (const [configuration, { name, path }] of [
    ['rossoctl-injector', webhooks.inject],
    ['zz-meddler', meddling],
  ] as const) {
    const body = configurationOf(configuration, name, { url: `https://127.0.0.1:${server.port}${path}`, caBundle });
    await client.create(kinds.mutatingWebhookConfiguration, body);
  }
  return { asked, close: () => server.close({ lingerMs: 0 }) };
}

/** With the selectors of the real one. */
function configurationOf(
  name: string,
  webhook: string,
  clientConfig: { readonly url: string; readonly caBundle: string },
): WebhookConfiguration {
  const entry = {
    name: webhook,
    clientConfig,
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
    objectSelector: {
      matchExpressions: [
        { key: 'rossoctl.io/type', operator: 'In', values: ['agent', 'tool'] },
        { key: 'rossoctl.io/inject', operator: 'NotIn', values: ['disabled'] },
      ],
    },
    failurePolicy: 'Fail',
    reinvocationPolicy: 'IfNeeded',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 5,
  };
  const { apiVersion, kind } = kinds.mutatingWebhookConfiguration;
  return { apiVersion, kind, metadata: { name }, webhooks: [entry] };
}
