// Writes the certificates, kubeconfigs and the audit policy of one control plane, and says where they are.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CertificateSubjects, writeCertificates } from './certificates.ts';
import { apiServerClusterIp, type ControlPlaneLayout } from './flags.ts';
import { writeKubeconfig } from './kubeconfig.ts';

export interface ControlPlanePlace {
  readonly dir: string;
  readonly etcdDataDir: string;
  readonly address: string;
  readonly port: number;
  readonly isAudited: boolean;
  readonly node?: NonNullable<CertificateSubjects['node']>;
}

/** The URL clients use. */
export function serverUrl({ address, port }: Pick<ControlPlaneLayout, 'address' | 'port'>): string {
  return `https://${address}:${port}`;
}

/** Writes everything a control plane reads at start. */
export async function writeControlPlaneFiles(place: ControlPlanePlace): Promise<ControlPlaneLayout> {
  const { dir, address, port, node } = place;
  const certificatesDir = join(dir, 'certificates');
  const audit = { policyPath: join(dir, 'audit-policy.json'), logPath: join(dir, 'audit.log') };
  const layout: ControlPlaneLayout = {
    certificatesDir,
    etcdDataDir: place.etcdDataDir,
    address,
    port,
    kubeconfigDir: join(dir, 'kubeconfigs'),
    audit: place.isAudited ? audit : undefined,
  };
  await writeCertificates(certificatesDir, {
    apiServerHosts: [...new Set(['127.0.0.1', address]), apiServerClusterIp, ...apiServerNames],
    ...(node === undefined ? {} : { node }),
  });
  for (const user of ['kube-controller-manager', 'kube-scheduler', ...(node ? ['kubelet', 'kube-proxy'] : [])]) {
    const path = join(layout.kubeconfigDir, `${user}.kubeconfig`);
    writeKubeconfig(path, { server: serverUrl(layout), certificatesDir, user });
  }
  if (place.isAudited) writeFileSync(audit.policyPath, JSON.stringify(auditPolicy));
  return layout;
}

const apiServerNames = [
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
];

// One record a request, when its answer is complete: who, what, on which object, but no bodies.
const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived', 'ResponseStarted'],
  rules: [{ level: 'Metadata' }],
};
