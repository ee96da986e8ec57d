// Writes the configuration files of containerd, CNI, the kubelet and kube-proxy.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ControlPlaneLayout } from '../flags.ts';
import { dnsClusterIp, type NodeLayout, nodeName, podCidr, runtimeDir } from './node-layout.ts';

export interface NodeFiles {
  readonly containerdConfig: string;
  readonly kubeletConfig: string;
  readonly kubeProxyConfig: string;
}

export interface NodeFilesSource {
  readonly layout: NodeLayout;
  readonly controlPlane: ControlPlaneLayout;
  readonly cniPluginDir: string;
  readonly pauseImage: string;
  readonly snapshotter: 'overlayfs' | 'native';
}

/** Writes the files below the lab's folder `node` and returns their paths. */
export function writeNodeFiles(source: NodeFilesSource): NodeFiles {
  const dir = join(source.layout.dir, 'node');
  const write = (name: string, content: string): string => {
    mkdirSync(join(dir, 'cni'), { recursive: true });
    writeFileSync(join(dir, name), content);
    return join(dir, name);
  };
  const resolvConf = write('resolv.conf', '');
  write('cni/10-lab.conflist', json(cniNetwork));
  return {
    containerdConfig: write('containerd.toml', containerdConfig(source, join(dir, 'cni'))),
    kubeletConfig: write('kubelet.json', json(kubeletConfiguration(source, resolvConf))),
    kubeProxyConfig: write('kube-proxy.json', json(kubeProxyConfiguration(source.controlPlane))),
  };
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const cniNetwork = {
  cniVersion: '0.4.0',
  name: 'lab',
  plugins: [
    {
      type: 'ptp',
      ipMasq: true,
      ipam: {
        type: 'host-local',
        dataDir: '/var/lib/cni/networks',
        ranges: [[{ subnet: podCidr }]],
        routes: [{ dst: '0.0.0.0/0' }],
      },
    },
    { type: 'portmap', capabilities: { portMappings: true } },
  ],
};

// oom scores are left alone because lowering one needs a capability that even root may lack in a container.
function containerdConfig(source: NodeFilesSource, cniConfigDir: string): string {
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  const unused = ['snapshotter.v1.aufs', 'snapshotter.v1.btrfs', 'snapshotter.v1.devmapper', 'snapshotter.v1.zfs'];
  const disabled = [...unused, 'tracing.processor.v1.otlp', 'internal.v1.tracing'].map(
    (name) => `io.containerd.${name}`,
  );
  return `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = ${JSON.stringify(disabled)}
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
  path = "/var/lib/containerd/opt"
[${cri}]
  sandbox_image = ${JSON.stringify(source.pauseImage)}
  disable_apparmor = true
  restrict_oom_score_adj = true
  [${cri}.containerd]
    snapshotter = "${source.snapshotter}"
    default_runtime_name = "runc"
    [${cri}.containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [${cri}.containerd.runtimes.runc.options]
        SystemdCgroup = false
  [${cri}.cni]
    bin_dir = ${JSON.stringify(source.cniPluginDir)}
    conf_dir = ${JSON.stringify(cniConfigDir)}
`;
}

function kubeletConfiguration({ layout, controlPlane }: NodeFilesSource, resolvConf: string) {
  const certificate = (name: string): string => join(controlPlane.certificatesDir, name);
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: certificate('ca.crt') },
    },
    authorization: { mode: 'Webhook' },
    tlsCertFile: certificate('kubelet.crt'),
    tlsPrivateKeyFile: certificate('kubelet.key'),
    cgroupDriver: 'cgroupfs',
    cgroupRoot: layout.cgroupRoot,
    clusterDNS: [dnsClusterIp],
    clusterDomain: 'cluster.local',
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    evictionHard: { 'memory.available': '50Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
    imageGCHighThresholdPercent: 100,
    failCgroupV1: false,
    failSwapOn: false,
    makeIPTablesUtilChains: false,
    oomScoreAdj: 0,
    podLogsDir: '/var/log/pods',
    resolvConf,
    volumePluginDir: join(runtimeDir, 'volume-plugins'),
    shutdownGracePeriod: '0s',
    nodeStatusUpdateFrequency: '5s',
    syncFrequency: '30s',
  };
}

function kubeProxyConfiguration({ kubeconfigDir }: ControlPlaneLayout) {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    clientConnection: { kubeconfig: join(kubeconfigDir, 'kube-proxy.kubeconfig') },
    mode: 'iptables',
    clusterCIDR: podCidr,
    hostnameOverride: nodeName,
    oomScoreAdj: 0,
    // Rules follow a change at once instead of within a second.
    iptables: { minSyncPeriod: '100ms' },
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
  };
}
