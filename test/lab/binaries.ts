// Which binaries the lab is made of, from which Go module each is built, and the key they are cached under.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { goModulesDir } from './locations.ts';

export type GoModuleName =
  | 'kubernetes'
  | 'etcd'
  | 'coredns'
  | 'network-policies'
  | 'pause'
  | 'spire'
  | 'pulumi'
  | 'pulumi-kubernetes';

export type BinaryName =
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'kubectl'
  | 'kubelet'
  | 'kube-proxy'
  | 'etcd'
  | 'coredns'
  | 'network-policies'
  | 'pause'
  | 'spire-server'
  | 'spire-agent'
  | 'pulumi'
  | 'pulumi-resource-kubernetes';

export interface Binary {
  readonly name: BinaryName;
  readonly module: GoModuleName;
  /** The Go package to build. */
  readonly package: string;
}

const kubernetesCommand = (name: BinaryName): Binary => ({
  name,
  module: 'kubernetes',
  package: `k8s.io/kubernetes/cmd/${name}`,
});

/** Every binary of the lab, in the order they are built. */
export const binaries: readonly Binary[] = [
  { name: 'etcd', module: 'etcd', package: 'go.etcd.io/etcd/server/v3' },
  kubernetesCommand('kube-apiserver'),
  kubernetesCommand('kubectl'),
  kubernetesCommand('kube-controller-manager'),
  kubernetesCommand('kube-scheduler'),
  kubernetesCommand('kubelet'),
  kubernetesCommand('kube-proxy'),
  { name: 'pause', module: 'pause', package: '.' },
  { name: 'coredns', module: 'coredns', package: '.' },
  { name: 'network-policies', module: 'network-policies', package: 'sigs.k8s.io/kube-network-policies/cmd' },
  { name: 'spire-server', module: 'spire', package: 'github.com/spiffe/spire/cmd/spire-server' },
  { name: 'spire-agent', module: 'spire', package: 'github.com/spiffe/spire/cmd/spire-agent' },
  { name: 'pulumi', module: 'pulumi', package: 'github.com/pulumi/pulumi/pkg/v3/cmd/pulumi' },
  { name: 'pulumi-resource-kubernetes', module: 'pulumi-kubernetes', package: '.' },
];

/** What a SPIRE of one's own needs; built only for what uses it. */
export const spireBinaries: readonly BinaryName[] = ['spire-server', 'spire-agent'];

/** What `pulumi up` needs besides Node; built only for what uses it. */
export const pulumiBinaries: readonly BinaryName[] = ['pulumi', 'pulumi-resource-kubernetes'];

/** What a cluster of one node needs. */
export const clusterBinaries: readonly BinaryName[] = binaries
  .map(({ name }) => name)
  .filter((name) => !spireBinaries.includes(name) && !pulumiBinaries.includes(name));

/** What a cluster without a node needs. */
export const controlPlaneBinaries: readonly BinaryName[] = [
  'etcd',
  'kube-apiserver',
  'kubectl',
  'kube-controller-manager',
  'kube-scheduler',
];

/** The release the cluster reports itself as; it is the version in the kubernetes module's go.mod. */
export const kubernetesVersion = 'v1.34.4';

/** The release of SPIRE; it is the version in the spire module's go.mod. */
export const spireVersion = '1.13.3';

/** The release of the Pulumi CLI; it is the version in the pulumi module's go.mod. */
export const pulumiVersion = '3.274.1';

/** The release of the Kubernetes provider that its module was tagged for. */
export const pulumiKubernetesVersion = '4.25.0';

/** The flags of `go build` for one module; a build from a module does not know its release, so it is told. */
export function buildFlags(module: GoModuleName): readonly string[] {
  const symbols = versionSymbols[module]?.() ?? [];
  return ['-trimpath', '-buildvcs=false', '-ldflags', ['-s', '-w', ...symbols].join(' ')];
}

const versionSymbols: Partial<Record<GoModuleName, () => readonly string[]>> = {
  kubernetes: kubernetesVersionSymbols,
  spire: () => [`-X github.com/spiffe/spire/pkg/common/version.gittag=${spireVersion}`],
  pulumi: () => [`-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v${pulumiVersion}`],
  'pulumi-kubernetes': () => [
    `-X main.version=${pulumiKubernetesVersion}`,
    `-X github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version.Version=${pulumiKubernetesVersion}`,
  ],
};

/** Whether a module has C in it, so that its build needs a C compiler: SPIRE's server brings SQLite. */
export function hasC(module: GoModuleName): boolean {
  return module === 'spire';
}

function kubernetesVersionSymbols(): readonly string[] {
  const [major = '', minor = ''] = kubernetesVersion.slice(1).split('.');
  const values = { gitVersion: kubernetesVersion, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' };
  return ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((path) =>
    Object.entries(values).map(([name, value]) => `-X ${path}.${name}=${value}`),
  );
}

/** A file of a Go module, as it enters the cache key. */
export interface SourceFile {
  readonly path: string;
  readonly content: string;
}

/** The folder name of a module's binaries: changes exactly when its files, the Go release or the flags change. */
export function cacheKey(files: readonly SourceFile[], goVersion: string, flags: readonly string[]): string {
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1)).map(({ path, content }) => [path, content]);
  return createHash('sha256')
    .update(JSON.stringify([sorted, goVersion, flags]))
    .digest('hex')
    .slice(0, 20);
}

/** The committed files of a Go module, patches included. */
export function moduleFiles(module: GoModuleName): readonly SourceFile[] {
  const folder = join(goModulesDir, module);
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path: path.slice(folder.length + 1), content: readFileSync(path, 'utf8') }));
}
