/** The program of team1's stacks: which agents it runs. */

import { Config } from '@pulumi/pulumi';
import { referencedPlatform } from 'rossoctl/stacks/referenced-platform';
import { AgentTeam } from '../agent-team.ts';

const config = new Config();
const team = new AgentTeam('team1', {
  platform: await referencedPlatform(config.require('platform')),
  namespace: 'team1',
  await: config.getBoolean('await'),
  agents: {
    weather: {
      image: 'registry.example/weather:1.4.0',
      envFromSecrets: ['weather-model'],
      runtime: { skills: ['forecast'] },
    },
    maps: { image: 'registry.example/maps:0.9.0', port: 9000, runtime: { skills: ['geocode', 'route'] } },
  },
});

export const endpoints = team.endpoints;
