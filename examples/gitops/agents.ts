/** The agents of one team, as constructs: what differs from cluster to cluster is a table, all else is the same everywhere. */

import { App, Chart } from 'cdk8s';
import { Agent } from '../../constructs/index.ts';

/** What the team chooses for each cluster. */
interface Choice {
  /** A namespace that the platform there watches. */
  readonly namespace: string;
  readonly image: string;
  readonly replicas: number;
}

/** Cluster → choice. A release is a change of `image`; CI shows in the diff of `clusters/` what else it would change. */
export const choices = {
  dev: { namespace: 'team1', image: 'registry.example/weather:1.5.0-rc.1', replicas: 1 },
  production: {
    namespace: 'agents',
    image: `registry.example/weather@sha256:${'5b'.repeat(32)}`,
    replicas: 3,
  },
} as const satisfies Readonly<Record<string, Choice>>;

/** The team's app for one cluster. */
export function teamApp({ namespace, image, replicas }: Choice): App {
  const app = new App();
  const chart = new Chart(app, 'weather', { namespace, disableResourceNameHashes: true });
  new Agent(chart, 'weather', {
    image,
    replicas,
    port: 8080,
    user: 1000,
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
    runtime: { skills: ['forecast'], mtlsMode: 'strict' },
    card: { syncPeriod: '1m' },
  });
  return app;
}
