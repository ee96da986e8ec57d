/** The program of team2's stacks: which agents it runs. */

import { Config } from '@pulumi/pulumi';
import { referencedPlatform } from 'rossoctl/stacks/referenced-platform';
import { AgentTeam } from '../agent-team.ts';

const config = new Config();
const team = new AgentTeam('team2', {
  platform: await referencedPlatform(config.require('platform')),
  namespace: 'team2',
  await: config.getBoolean('await'),
  agents: {
    billing: {
      image: 'registry.example/billing:2.0.1',
      replicas: 4,
      runtime: { skills: ['invoice'], identity: { allowedAudiences: ['billing'] } },
    },
  },
});

export const endpoints = team.endpoints;
