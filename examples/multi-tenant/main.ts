/** Writes a platform and its three tenants as a tree of YAML: `node examples/multi-tenant/main.ts [DIR]`. */

import { App, Chart } from 'cdk8s';
import { AgentPlatform } from 'rossoctl';
import { manifestsOf, treeOf } from 'rossoctl/stacks/tree';
import { writeTree } from 'rossoctl/stacks/write-tree';
import { Tenant, type TenantProps } from './tenant.ts';
import { TenantBoundary } from './tenant-boundary.ts';

/** A row a tenant. */
const tenants: readonly TenantProps[] = [
  {
    name: 'atlas',
    developers: 'atlas-developers',
    trustDomain: 'atlas.example',
    realm: 'atlas',
    quota: { pods: 100, cpu: '20', memory: '40Gi' },
    defaults: { mtls: { mode: 'strict' } },
  },
  {
    name: 'borealis',
    developers: 'borealis-developers',
    trustDomain: 'borealis.example',
    realm: 'borealis',
    quota: { pods: 40, cpu: '8', memory: '16Gi' },
  },
  {
    name: 'cumulus',
    developers: 'cumulus-developers',
    trustDomain: 'cumulus.example',
    realm: 'cumulus',
    quota: { pods: 10, cpu: '2', memory: '4Gi' },
    defaults: { trace: { endpoint: 'traces.cumulus.example:4317' } },
  },
];

/** The platform's init container, which alone changes the network of a tenant's pod. */
const proxyInit = 'ghcr.io/rossoctl/rossoctl-sidecar:0.1.0';

const app = new App();
const spaces = new Chart(app, 'tenants', { disableResourceNameHashes: true });
const namespaces = tenants.map((props) => new Tenant(spaces, props.name, props).namespace);

const platform = new Chart(app, 'platform', { disableResourceNameHashes: true });
const operator = new AgentPlatform(platform, 'rossoctl', {
  image: 'ghcr.io/rossoctl/rossoctl:0.1.0',
  config: { images: { proxyInit } },
  // The operator sees the tenants' namespaces and no other.
  watch: { kind: 'namespaced', namespaces },
});
new TenantBoundary(spaces, 'boundary', { namespaces, operator, proxyInit });

const [dir = 'dist/multi-tenant'] = process.argv.slice(2);
const { files, changed, removed } = writeTree(dir, treeOf(manifestsOf(app)));
process.stdout.write(`${dir}: ${files} files (${changed} changed, ${removed} removed)\n`);
