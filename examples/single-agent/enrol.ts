/** An agent that is in the cluster already, enrolled: nothing but an AgentRuntime that names its workload. */

import { App, Chart } from 'cdk8s';
import { AgentRuntime } from 'rossoctl';
import { manifestsOf, streamOf } from 'rossoctl/stacks/tree';

const app = new App();
const chart = new Chart(app, 'agents', { namespace: 'team1', disableResourceNameHashes: true });

new AgentRuntime(chart, 'search', {
  // Made by Helm, by another team, by hand: it stays theirs.
  target: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'search' },
  type: 'agent',
  skills: ['search'],
});

process.stdout.write(streamOf(manifestsOf(app)));
