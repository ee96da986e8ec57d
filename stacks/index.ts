/** What `pulumi up` runs: the layer of the stack's environment, the platform or a team's agents. */

import { Provider } from '@pulumi/kubernetes';
import { getProject, getStack } from '@pulumi/pulumi';
import { buildApp } from './app.ts';
import { KubernetesApp } from './kubernetes-app.ts';
import { platformFacts } from './platform-facts.ts';
import { pulumiSettings } from './pulumi-settings.ts';
import { referencedPlatform } from './referenced-platform.ts';

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

const isPlatform = 'platform' in settings;
const app = isPlatform ? buildApp(settings) : buildApp(settings, await referencedPlatform(settings.agents.platform));
new KubernetesApp(
  isPlatform ? 'platform' : 'agents',
  { app, providerVersion, ...treatment },
  { providers: { kubernetes: provider } },
);

/** What the stacks of teams must know of the platform; undefined for theirs. */
export const platform = isPlatform ? platformFacts(settings.environment, settings.platform) : undefined;
