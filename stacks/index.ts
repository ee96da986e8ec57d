/** What `pulumi up` runs: the platform of the stack's environment. */

import { Provider } from '@pulumi/kubernetes';
import { getProject, getStack } from '@pulumi/pulumi';
import { buildApp } from './app.ts';
import { KubernetesApp } from './kubernetes-app.ts';
import { pulumiSettings } from './pulumi-settings.ts';

const settings = pulumiSettings();
const { cluster = {} } = settings;
const { context, kubeconfig, identifier = `${getProject()}/${getStack()}`, providerVersion, ...treatment } = cluster;

const provider = new Provider(
  'cluster',
  {
    ...(context === undefined ? {} : { context }),
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    clusterIdentifier: identifier,
    enableServerSideApply: true,
    // Else a changed value deletes the ConfigMap before it creates the next, and the operator would see none.
    enableConfigMapMutable: true,
    enableSecretMutable: true,
  },
  providerVersion === undefined ? {} : { version: providerVersion },
);

const app = new KubernetesApp(
  'platform',
  { app: buildApp(settings), providerVersion, ...treatment },
  { providers: { kubernetes: provider } },
);

/** URNs of everything that was installed. */
export const objects = app.urns;
