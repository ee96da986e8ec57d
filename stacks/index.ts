/** What `pulumi up` runs: the layer of the stack's environment, the platform or a team's agents. */

import { Provider } from '@pulumi/kubernetes';
import { getProject, getStack, RunError } from '@pulumi/pulumi';
import type { App } from 'cdk8s';
import { buildApp } from './app.ts';
import { clusterProblem } from './context.ts';
import { KubernetesApp } from './kubernetes-app.ts';
import { type PlatformFacts, platformFacts } from './platform-facts.ts';
import { pulumiSettings } from './pulumi-settings.ts';
import { referencedPlatform } from './referenced-platform.ts';
import { type AgentsLayer, refusedAgents, type Settings, SettingsError } from './settings.ts';

/** Under `platform`, what the stacks of its teams must know of a platform; of a team nothing. */
interface Outputs {
  readonly platform?: PlatformFacts;
}

async function run(): Promise<Outputs> {
  const settings = pulumiSettings();
  const install = installer(settings);
  if ('platform' in settings) {
    const platform = platformFacts(settings.environment, settings.platform);
    install('platform', buildApp(settings), platform);
    return { platform };
  }
  const platform = await platformOf(settings);
  install('agents', buildApp(settings, platform), platform);
  return {};
}

async function platformOf({ agents, environment, where = environment }: AgentsLayer): Promise<PlatformFacts> {
  try {
    return await referencedPlatform(agents.platform);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw refusedAgents(where, [{ path: 'platform', message: error.message }]);
  }
}

function installer({ cluster = {} }: Settings): (layer: string, app: App, platform: PlatformFacts) => void {
  const { context, kubeconfig, identifier, providerVersion, ...treatment } = cluster;
  const problem = clusterProblem({ context, kubeconfig });
  if (problem !== undefined) throw new RunError(problem);
  const provider = new Provider(
    'cluster',
    {
      ...(context === undefined ? {} : { context }),
      ...(kubeconfig === undefined ? {} : { kubeconfig }),
      clusterIdentifier: identifier ?? `${getProject()}/${getStack()}`,
      enableServerSideApply: true,
      // Else a changed value deletes the ConfigMap before it creates the next, and the operator would see none.
      enableConfigMapMutable: true,
      enableSecretMutable: true,
    },
    providerVersion === undefined ? {} : { version: providerVersion },
  );
  return (layer, app, { injects }) => {
    new KubernetesApp(layer, { app, providerVersion, injects, ...treatment }, { providers: { kubernetes: provider } });
  };
}

/** A refusal is for whoever wrote the settings: its words are enough. What is no refusal keeps its stack. */
function told(error: unknown): unknown {
  return error instanceof Error && error.name === 'Error' ? new RunError(error.message) : error;
}

// oxlint-disable-next-line import/no-default-export -- a program of Pulumi says its outputs so, or has none
export default (): Promise<Outputs> =>
  run().catch((error: unknown) => {
    throw told(error);
  });
