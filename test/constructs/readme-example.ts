/** The example of README.md, as code: type-checked, synthesized and compared with the page by its test. */

import type { Chart } from 'cdk8s';
import { Agent, AgentPlatform } from '../../constructs/index.ts';

export function readmeExample(chart: Chart): void {
  new AgentPlatform(chart, 'rossoctl', { image: 'registry.example/rossoctl:0.1.0' });
  new Agent(chart, 'weather', { namespace: 'team1', image: 'registry.example/weather:1', port: 8080 });
}
