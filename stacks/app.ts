/** Settings of an environment → the app: the one builder, whatever its output. */

import { App, Chart } from 'cdk8s';
import { Agent, AgentNamespace, AgentPlatform, type AgentPlatformProps, Tool } from '../constructs/index.ts';
import { agentsViolations, type PlatformFacts } from './platform-facts.ts';
import { type AgentsLayer, type PlatformLayer, refusedAgents, type Settings, SettingsError } from './settings.ts';
import { readFrom } from './tree.ts';

/**
 * The app of an environment: its namespaces and the platform, or a team's agents and tools. Pure; what the constructs check of the whole
 * app they check at synthesis. Throws `SettingsError` on agents that `platform`, where it is known, would not serve, and on what a
 * construct refuses; both begin with where the settings were read, as synthesis does.
 */
export function buildApp(settings: Settings, platform?: PlatformFacts): App {
  try {
    const app = 'platform' in settings ? platformApp(settings) : agentsApp(settings, platform);
    app.node.addMetadata(readFrom, placeOf(settings));
    return app;
  } catch (error) {
    throw refusal(error, settings);
  }
}

/** What a construct refuses names the construct, and nothing of the file; a bug stays what it is. */
function refusal(error: unknown, settings: Settings): unknown {
  const isRefusal = error instanceof Error && error.name === 'Error' && !(error instanceof SettingsError);
  return isRefusal ? new SettingsError(`${placeOf(settings)}: ${error.message}`, { cause: error }) : error;
}

function placeOf({ environment, where = `environment ${environment}` }: Settings): string {
  return where;
}

function platformApp(settings: PlatformLayer): App {
  const app = new App();
  const { namespaces = [], mode = 'cluster', requireImageDigest: _, ...props } = settings.platform;
  const spaces = new Chart(app, 'namespaces', { disableResourceNameHashes: true });
  for (const { name, create, defaults } of namespaces) {
    new AgentNamespace(spaces, name, { name, ...(create === undefined ? {} : { create }), defaults });
  }
  const platform = new Chart(app, 'platform', { disableResourceNameHashes: true });
  new AgentPlatform(platform, 'rossoctl', { ...props, watch: watchOf(mode, namespaces) });
  return app;
}

function agentsApp(layer: AgentsLayer, platform: PlatformFacts | undefined): App {
  const { agents: settings } = layer;
  const violations = platform === undefined ? [] : agentsViolations(settings, platform);
  if (violations.length > 0) throw refusedAgents(placeOf(layer), violations);
  const app = new App();
  const { namespace, agents = {}, tools = {} } = settings;
  const chartOf = (id: string) => new Chart(app, id, { namespace, disableResourceNameHashes: true });
  const [agentsChart, toolsChart] = [chartOf('agents'), chartOf('tools')];
  for (const [name, props] of Object.entries(agents)) new Agent(agentsChart, name, { ...props, name });
  for (const [name, props] of Object.entries(tools)) new Tool(toolsChart, name, { ...props, name });
  return app;
}

function watchOf(
  mode: 'cluster' | 'namespaced',
  namespaces: readonly { readonly name: string }[],
): AgentPlatformProps['watch'] {
  return mode === 'cluster'
    ? { kind: 'cluster' }
    : { kind: 'namespaced', namespaces: namespaces.map(({ name }) => name) };
}
