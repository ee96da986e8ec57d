/** The operator's pod: one container that passes Pod Security "restricted". */

import { install } from '../runtime/api/names.ts';
import { release } from '../runtime/api/release.ts';
import type { CertificateSource } from './certificates.ts';
import type { ResourceQuantities } from './resource-quantities.ts';
import type { WatchedNamespaces } from './watched-namespaces.ts';

/** Props of the operator's pod. */
export interface OperatorPodProps {
  readonly image: string;
  readonly imagePullPolicy: 'Always' | 'IfNotPresent' | 'Never';
  readonly imagePullSecrets: readonly string[];
  readonly serviceAccountName: string;
  readonly watched: WatchedNamespaces;
  readonly certificates: CertificateSource;
  readonly resources: ResourceQuantities;
  readonly priorityClassName?: string | undefined;
  /** Flags of the operator, `name → value`; a flag that is not here has the operator's own default. */
  readonly flags: Readonly<Record<string, string | number>>;
}

/** Measured: the operator idles near 100 MB, stays under 200 MB with 16,000 objects in its cache, and takes 243 MiB with 1,000 signed cards. */
export const defaultResources: ResourceQuantities = {
  requests: { cpu: '50m', memory: '128Mi' },
  limits: { memory: '256Mi' },
};

const ports = { webhook: 9443, metrics: 8080, health: 8081 } as const;
const certificateDir = '/etc/rossoctl/certificate';
/** Any number but 0: the image needs no particular user. */
const user = 65532;

type Json = Readonly<Record<string, unknown>>;

/** Pod spec without what only a Deployment decides. Ports are the operator's defaults, so no flag repeats them. */
export function operatorPodSpec(props: OperatorPodProps): Json {
  const pullSecrets = props.imagePullSecrets.map((name) => ({ name }));
  return {
    serviceAccountName: props.serviceAccountName,
    // An ordinary end takes seconds; the last one, when the install is removed, lets go of every workload first.
    terminationGracePeriodSeconds: 300,
    ...(pullSecrets.length === 0 ? {} : { imagePullSecrets: pullSecrets }),
    ...(props.priorityClassName === undefined ? {} : { priorityClassName: props.priorityClassName }),
    securityContext: {
      runAsNonRoot: true,
      runAsUser: user,
      runAsGroup: user,
      fsGroup: user,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [container(props)],
    ...listed(
      'volumes',
      mounts(props).map(({ volume }) => volume),
    ),
  };
}

function container(props: OperatorPodProps): Json {
  return {
    name: 'operator',
    image: props.image,
    imagePullPolicy: props.imagePullPolicy,
    args: flagList(props),
    env: environment(props),
    ports: Object.entries(ports).map(([name, containerPort]) => ({ name, containerPort, protocol: 'TCP' })),
    resources: props.resources,
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    startupProbe: probe('/healthz', { periodSeconds: 1, failureThreshold: 60 }),
    livenessProbe: probe('/healthz', { periodSeconds: 15, failureThreshold: 4 }),
    readinessProbe: probe('/readyz', { periodSeconds: 5, failureThreshold: 2 }),
    ...listed(
      'volumeMounts',
      mounts(props).map(({ volume, mountPath }) => ({ name: volume.name, mountPath, readOnly: true })),
    ),
  };
}

function flagList({ certificates, flags }: OperatorPodProps): readonly string[] {
  const all = { ...flags, ...(certificates === 'cert-manager' ? { certificates: 'files' } : {}) };
  return Object.entries(all).map(([name, value]) => `--${name}=${value}`);
}

function environment({ watched }: OperatorPodProps): readonly Json[] {
  // With what the API server would add, so that whoever applies the same again has no conflict with whoever applied it first.
  const field = (name: string, fieldPath: string) => ({
    name,
    valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } },
  });
  const list = watched.late((names) => names.join(','));
  return [
    field('POD_NAMESPACE', 'metadata.namespace'),
    field('POD_NAME', 'metadata.name'),
    // As a variable, which an image of an older release ignores; a flag it would refuse.
    { name: 'ROSSOCTL_MANIFESTS_RELEASE', value: release },
    ...(watched.kind === 'cluster' ? [] : [{ name: 'NAMESPACES2WATCH', value: list }]),
  ];
}

function probe(path: string, timing: Json): Json {
  return { httpGet: { path, port: 'health' }, timeoutSeconds: 3, ...timing };
}

/** The API server drops an empty list. */
function listed(name: string, items: readonly Json[]): Json {
  return items.length === 0 ? {} : { [name]: items };
}

interface Mount {
  readonly mountPath: string;
  readonly volume: Json & { readonly name: string };
}

/**
 * No configuration: the operator watches its ConfigMaps. Mounted as well they would be another layer, which the kubelet brings up to date up
 * to a minute later and on each replica at another moment, so that one change would be two.
 */
function mounts({ certificates }: OperatorPodProps): readonly Mount[] {
  if (certificates === 'self-managed') return [];
  const secret = { secretName: install.certificateSecret, defaultMode: 0o440 };
  return [{ mountPath: certificateDir, volume: { name: 'certificate', secret } }];
}
