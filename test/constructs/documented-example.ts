/** The example of docs/constructs.md, as code: type-checked, synthesized and compared with the page by its test. */

import { App, Chart } from 'cdk8s';
import * as kplus from 'cdk8s-plus-28';
import { Agent, AgentCard, AgentNamespace, AgentPlatform, AgentRuntime } from '../../constructs/index.ts';

export function exampleApp(): App {
  const app = new App();

  const platform = new Chart(app, 'platform');
  new AgentPlatform(platform, 'rossoctl', {
    image: 'registry.example/rossoctl:0.1.0',
    config: { spiffe: { trustDomain: 'prod.example' }, trace: { sampling: { rate: 0.05 } } },
    featureGates: { injectTools: true },
  });
  new AgentNamespace(platform, 'team1', { name: 'team1', defaults: { mtls: { mode: 'strict' } } });

  const agents = new Chart(app, 'agents', { namespace: 'team1' });
  // Everything in one: Deployment, Service, ServiceAccount and AgentRuntime.
  new Agent(agents, 'weather', {
    name: 'weather',
    image: 'registry.example/weather:1',
    runtime: { skills: ['forecast'] },
  });

  // A workload you have already, of any library.
  const billing = new kplus.Deployment(agents, 'billing', {
    metadata: { name: 'billing' },
    containers: [{ image: 'registry.example/billing:1', portNumber: 8080 }],
  });
  billing.metadata.addLabel('protocol.rossoctl.io/a2a', '');
  new AgentRuntime(agents, 'billing-runtime', { target: billing, type: 'agent', mtlsMode: 'strict' });
  // Its card, for what the one that the operator generates does not say: only billing's own account may sign it.
  new AgentCard(agents, 'billing-card', { target: billing, identityBinding: { scope: 'workload' } });

  // A workload that is made elsewhere.
  new AgentRuntime(agents, 'search-runtime', {
    target: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'search' },
    type: 'tool',
  });
  return app;
}
