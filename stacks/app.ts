/** Settings of an environment → the app: the one builder, whatever its output. */

import { App, Chart } from 'cdk8s';
import { AgentNamespace, AgentPlatform, type AgentPlatformProps } from '../constructs/index.ts';
import type { Settings } from './settings.ts';

/** The app of one environment: its namespaces and the platform. Pure; the constructs' own checks run at synthesis. */
export function buildApp(settings: Settings): App {
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

function watchOf(
  mode: 'cluster' | 'namespaced',
  namespaces: readonly { readonly name: string }[],
): AgentPlatformProps['watch'] {
  return mode === 'cluster'
    ? { kind: 'cluster' }
    : { kind: 'namespaced', namespaces: namespaces.map(({ name }) => name) };
}
