// The Kubernetes objects a node lab starts with: cluster DNS and the enforcement of NetworkPolicies.
import { labImages } from './images.ts';
import { dnsClusterIp } from './node-layout.ts';

const namespace = 'kube-system';

interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

/** Every object of the lab's own, in one list. */
export function systemManifests() {
  return { apiVersion: 'v1', kind: 'List', items: [...dnsManifests(), ...networkPolicyManifests()] } as const;
}

function dnsManifests(): readonly KubernetesObject[] {
  const name = 'coredns';
  const labels = { 'k8s-app': 'kube-dns' };
  const rules = [
    { apiGroups: [''], resources: ['endpoints', 'services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
  ];
  const ports = [
    { name: 'dns', port: 53, protocol: 'UDP' },
    { name: 'dns-tcp', port: 53, protocol: 'TCP' },
  ];
  return [
    ...accountWithRules(name, rules),
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { Corefile: corefile } },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'kube-dns', namespace, labels },
      spec: { clusterIP: dnsClusterIp, selector: labels, ports },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, namespace, labels },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: dnsPodSpec(name) } },
    },
  ];
}

// No forwarding: there is no other name server. Names outside the cluster do not exist.
const corefile = `.:53 {
  errors
  health :8080
  ready :8181
  kubernetes cluster.local in-addr.arpa {
    pods insecure
    ttl 5
  }
  cache 5
}
`;

function dnsPodSpec(name: string) {
  return {
    serviceAccountName: name,
    dnsPolicy: 'Default',
    priorityClassName: 'system-cluster-critical',
    volumes: [{ name: 'config', configMap: { name } }],
    containers: [
      {
        name,
        image: labImages.coredns,
        imagePullPolicy: 'Never',
        args: ['-conf', '/etc/coredns/Corefile'],
        volumeMounts: [{ name: 'config', mountPath: '/etc/coredns' }],
        readinessProbe: { httpGet: { path: '/ready', port: 8181 }, periodSeconds: 1 },
      },
    ],
  };
}

function networkPolicyManifests(): readonly KubernetesObject[] {
  const name = 'network-policies';
  const labels = { 'k8s-app': name };
  const rules = [
    { apiGroups: [''], resources: ['pods', 'namespaces', 'nodes'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: ['list', 'watch'] },
  ];
  return [
    ...accountWithRules(name, rules),
    {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name, namespace, labels },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: policyPodSpec(name) } },
    },
  ];
}

function policyPodSpec(name: string) {
  const args = ['--disable-nri', '--netfilter-bug-1766-fix=false', '--hostname-override=$(NODE_NAME)', '--v=2'];
  return {
    serviceAccountName: name,
    hostNetwork: true,
    priorityClassName: 'system-node-critical',
    tolerations: [{ operator: 'Exists' }],
    containers: [
      {
        name,
        image: labImages.networkPolicies,
        imagePullPolicy: 'Never',
        args,
        env: [{ name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
        securityContext: { privileged: true },
      },
    ],
  };
}

function accountWithRules(name: string, rules: readonly unknown[]): readonly KubernetesObject[] {
  const apiGroup = 'rbac.authorization.k8s.io';
  const apiVersion = `${apiGroup}/v1`;
  const metadata = { name: `lab:${name}` };
  const roleRef = { apiGroup, kind: 'ClusterRole', name: metadata.name };
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
    { apiVersion, kind: 'ClusterRole', metadata, rules },
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef,
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
  ];
}
