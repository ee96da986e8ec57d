/** One agent, as YAML on standard output: its Deployment, Service, account and the AgentRuntime that enrols it. */

import { App, Chart } from 'cdk8s';
import { Agent } from 'rossoctl';
import { manifestsOf, streamOf } from 'rossoctl/stacks/tree';

const app = new App();
const chart = new Chart(app, 'agents', { namespace: 'team1', disableResourceNameHashes: true });

new Agent(chart, 'weather', {
  image: 'registry.example/weather:1.4.0',
  port: 8080,
  user: 1000,
  // A Secret that you make apart; its keys become environment variables.
  envFromSecrets: ['weather-model'],
  runtime: { skills: ['forecast'] },
});

process.stdout.write(streamOf(manifestsOf(app)));
