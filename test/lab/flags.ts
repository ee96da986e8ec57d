// The command line of each control-plane component.
import { join } from 'node:path';

/** The range of ClusterIPs; its first address is the API server's own Service. */
export const serviceCidr = '10.96.0.0/16';

/** The API server's ClusterIP. */
export const apiServerClusterIp = '10.96.0.1';

/** Where the files and ports of one control plane are. */
export interface ControlPlaneLayout {
  readonly certificatesDir: string;
  readonly etcdDataDir: string;
  /** The address the API server listens on and advertises. */
  readonly address: string;
  readonly port: number;
  /** The folder of the components' kubeconfigs, named after the component. */
  readonly kubeconfigDir: string;
  /** Undefined when no audit log is written. */
  readonly audit: { readonly policyPath: string; readonly logPath: string } | undefined;
}

// The API server reaches etcd by a Unix socket in the folder both are started in: no port, no certificates, and no
// path too long for a socket. etcd wants the form "host:port" and takes it for a file name.
const etcdSocket = 'etcd-client:0';

/** etcd without waiting for the disk: a lab's data is not meant to survive a power cut. */
export function etcdFlags({ etcdDataDir }: ControlPlaneLayout): readonly string[] {
  const client = `unix://${etcdSocket}`;
  const peer = 'unix://etcd-peer:0';
  return [
    `--data-dir=${etcdDataDir}`,
    '--name=lab',
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=lab=${peer}`,
    '--unsafe-no-fsync',
    '--auto-compaction-mode=periodic',
    '--auto-compaction-retention=5m',
    '--log-level=warn',
  ];
}

/** kube-apiserver with RBAC, anonymous health checks, aggregation, token issuing and admission policies. */
export function apiServerFlags(layout: ControlPlaneLayout): readonly string[] {
  const { certificatesDir, address, port } = layout;
  const file = (name: string): string => join(certificatesDir, name);
  return [
    `--etcd-servers=unix://${etcdSocket}`,
    `--bind-address=${address}`,
    `--advertise-address=${address}`,
    `--secure-port=${port}`,
    `--cert-dir=${certificatesDir}`,
    `--tls-cert-file=${file('kube-apiserver.crt')}`,
    `--tls-private-key-file=${file('kube-apiserver.key')}`,
    `--client-ca-file=${file('ca.crt')}`,
    `--kubelet-client-certificate=${file('kube-apiserver-kubelet-client.crt')}`,
    `--kubelet-client-key=${file('kube-apiserver-kubelet-client.key')}`,
    '--kubelet-preferred-address-types=InternalIP',
    `--service-cluster-ip-range=${serviceCidr}`,
    ...serviceAccountFlags(file),
    ...aggregationFlags(file),
    '--authorization-mode=Node,RBAC',
    '--anonymous-auth=true',
    '--allow-privileged=true',
    '--enable-admission-plugins=NodeRestriction',
    '--feature-gates=MutatingAdmissionPolicy=true',
    '--runtime-config=admissionregistration.k8s.io/v1beta1=true',
    '--event-ttl=15m',
    '--profiling=false',
    '--shutdown-delay-duration=0s',
    '--shutdown-watch-termination-grace-period=1s',
    ...auditFlags(layout.audit),
  ];
}

function serviceAccountFlags(file: (name: string) => string): readonly string[] {
  return [
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${file('service-account.pub')}`,
    `--service-account-signing-key-file=${file('service-account.key')}`,
  ];
}

function aggregationFlags(file: (name: string) => string): readonly string[] {
  return [
    `--requestheader-client-ca-file=${file('front-proxy-ca.crt')}`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-username-headers=X-Remote-User',
    `--proxy-client-cert-file=${file('front-proxy-client.crt')}`,
    `--proxy-client-key-file=${file('front-proxy-client.key')}`,
  ];
}

function auditFlags(audit: ControlPlaneLayout['audit']): readonly string[] {
  if (audit === undefined) return [];
  return [`--audit-policy-file=${audit.policyPath}`, `--audit-log-path=${audit.logPath}`, '--audit-log-format=json'];
}

/** kube-controller-manager without the controllers of clouds and of node addresses; it serves no port. */
export function controllerManagerFlags({ certificatesDir, kubeconfigDir }: ControlPlaneLayout): readonly string[] {
  const file = (name: string): string => join(certificatesDir, name);
  const absent = ['nodeipam', 'node-route-controller', 'service-lb-controller', 'cloud-node-lifecycle-controller'];
  return [
    ...delegatedAuthenticationFlags(kubeconfigDir, 'kube-controller-manager'),
    `--controllers=*,${absent.map((controller) => `-${controller}`).join(',')}`,
    '--use-service-account-credentials=true',
    // At the default rate starting the controllers alone takes four seconds.
    '--kube-api-qps=300',
    '--kube-api-burst=600',
    `--service-account-private-key-file=${file('service-account.key')}`,
    `--root-ca-file=${file('ca.crt')}`,
    `--cluster-signing-cert-file=${file('ca.crt')}`,
    `--cluster-signing-key-file=${file('ca.key')}`,
  ];
}

/** kube-scheduler alone in its cluster; it serves no port. */
export function schedulerFlags({ kubeconfigDir }: ControlPlaneLayout): readonly string[] {
  return delegatedAuthenticationFlags(kubeconfigDir, 'kube-scheduler');
}

function delegatedAuthenticationFlags(kubeconfigDir: string, component: string): readonly string[] {
  const kubeconfig = join(kubeconfigDir, `${component}.kubeconfig`);
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    '--secure-port=0',
    '--leader-elect=false',
    '--profiling=false',
  ];
}
