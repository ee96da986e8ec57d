/** Two agents of two teams as their developers write them: each an ordinary workload composed with its AgentRuntime. */

import { App, Chart } from 'cdk8s';
import { Agent, AgentNamespace } from '../constructs/index.ts';

/** Images of the agents; the defaults are what the demo loads into the lab. */
export interface AgentImages {
  readonly agent: string;
}

/** Each has its own: its files are nobody else's, and the demo's SPIRE tells them apart by it. */
export const users = { weather: 1001, billing: 1002 } as const;

/**
 * `team1/weather` takes everything from the platform. `team2` sends its traces elsewhere by a namespace default, so a platform-wide
 * change of that setting does not concern `team2/billing`.
 */
export function agentsApp({ agent }: AgentImages): App {
  const app = new App();
  const teams = new Chart(app, 'teams', { disableResourceNameHashes: true });
  new AgentNamespace(teams, 'team2', {
    name: 'team2',
    defaults: { trace: { endpoint: 'traces.team2:4317' } },
  });
  const agents = new Chart(app, 'agents', { disableResourceNameHashes: true });
  new Agent(agents, 'weather', {
    name: 'weather',
    namespace: 'team1',
    image: agent,
    port: 8080,
    user: users.weather,
    replicas: 1,
    healthPath: '/.well-known/agent-card.json',
    resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '64Mi' } },
    runtime: { skills: ['forecast'] },
    card: { syncPeriod: '5s', identityBinding: { scope: 'workload' } },
  });
  new Agent(agents, 'billing', {
    name: 'billing',
    namespace: 'team2',
    image: agent,
    port: 8080,
    user: users.billing,
    replicas: 1,
    healthPath: '/.well-known/agent-card.json',
    resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '64Mi' } },
  });
  return app;
}
