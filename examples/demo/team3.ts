/** A team whose assistant asks a tool, as its developers write it; and a Service by which the assistant is reached from outside of the cluster. */

import { App, Chart } from 'cdk8s';
import { Agent, AgentNamespace, Tool } from '../../constructs/index.ts';
import { assistant, tickets } from './programs.ts';

export const namespace = 'team3';
/** Its client in Keycloak. */
export const agentId = `${namespace}/assistant`;
export const nodePort = 30_080;

/** Clients of the realm: the agent's own, another agent's, and the tool as an audience. */
export const members = { agents: [agentId, 'team1/weather'], tools: ['tickets'] };

/** Each has its own, as in `examples/agents.ts`. */
export const users = { assistant: 1003, tickets: 1004 } as const;

/** Namespace, agent, tool and Service; `image` has Node. */
export function workloads(image: string): readonly unknown[] {
  const app = new App();
  const chart = new Chart(app, 'team3', { disableResourceNameHashes: true });
  const routes = [{ host: 'tickets.team3.svc', audience: 'tickets', scopes: ['tickets-aud'] }];
  new AgentNamespace(chart, 'namespace', {
    name: namespace,
    defaults: { trace: { endpoint: 'traces.team3:4317' }, tokenExchange: { routes } },
  });
  const common = {
    namespace,
    image,
    replicas: 1,
    protocols: [],
    healthPath: '/healthz',
    resources: { requests: { cpu: '10m', memory: '32Mi' }, limits: { memory: '128Mi' } },
  };
  new Agent(chart, 'assistant', { ...common, user: users.assistant, command: ['/usr/bin/node', '-e', assistant] });
  new Tool(chart, 'tickets', {
    ...common,
    user: users.tickets,
    command: ['/usr/bin/node', '-e', tickets],
    runtime: { identity: { allowedAudiences: ['tickets'] } },
  });
  const outside = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name: 'assistant-outside' },
    spec: {
      type: 'NodePort',
      selector: { 'app.kubernetes.io/name': 'assistant' },
      ports: [{ port: 8080, targetPort: 8080, nodePort }],
    },
  };
  return [...(chart.toJson() as readonly unknown[]), outside];
}
