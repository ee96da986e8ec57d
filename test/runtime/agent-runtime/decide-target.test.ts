/** Decisions about the target: found, missing, unsupported, contested, undone by others. */

import { expectRows } from './decide-rows.ts';
import { labels } from '../../../runtime/api/names.ts';
import { enrolledWorkload, otherHash, runtime, workload } from './fixtures.ts';
import { D0 } from './situations.ts';

expectRows([
  {
    reason: 'a first enrolment labels at once',
    given: {},
    phase: 'Active',
    says: [
      'TargetResolved=True/TargetFound',
      'ConfigResolved=True/ConfigResolved',
      'Ready=True/Configured',
      'PodsInjected=Unknown/PodsAwaited',
      'SpiffeReady=True/SpiffeAvailable',
    ],
    message: /^Deployment weather-agent is enrolled as agent\.$/,
    applies: D0,
    events: ['Configured'],
  },
  {
    reason: 'an enrolled workload is left alone',
    given: { target: { found: enrolledWorkload() } },
    phase: 'Active',
    says: ['Ready=True/Configured'],
    applies: [],
  },
  {
    reason: 'RC-02 a missing target is pending, with the next step',
    given: { target: { missing: true } },
    phase: 'Pending',
    says: ['TargetResolved=False/TargetNotFound', 'Ready=False/TargetNotFound', 'ConfigResolved=True/ConfigResolved'],
    message: /Deployment weather-agent does not exist in namespace team1\. Create it/,
    applies: [],
    events: ['TargetNotFound'],
  },
  {
    reason: 'an unsupported kind is for a person to correct',
    given: { target: { unsupported: 'v1 Pod cannot be a target; supported are apps/v1 Deployment' } },
    phase: 'Error',
    says: ['TargetResolved=False/TargetUnsupported', 'Ready=False/TargetUnsupported'],
    message: /supported are apps\/v1 Deployment/,
    applies: [],
    events: ['TargetUnsupported'],
  },
  {
    reason: 'a Job that has started cannot be labelled',
    given: { target: { found: workload({ kind: 'Job', status: { startTime: 'x' } }) } },
    phase: 'Error',
    says: ['TargetResolved=False/TargetImmutable', 'Ready=False/TargetImmutable'],
    message: /spec\.suspend: true/,
    applies: [],
    events: ['TargetImmutable'],
  },
  {
    reason: 'a selector that asks for another type can never be satisfied',
    given: {
      target: {
        found: workload({
          spec: { selector: { matchLabels: { [labels.type]: 'tool' } } },
          templateLabels: { [labels.type]: 'tool' },
        }),
      },
    },
    phase: 'Error',
    says: ['TargetResolved=False/TargetImmutable', 'Ready=False/TargetImmutable'],
    message: /selector of Deployment weather-agent/,
    applies: [],
  },
  {
    reason: 'a suspended Job that never started can',
    given: { target: { found: workload({ kind: 'Job', spec: { suspend: true } }) } },
    phase: 'Active',
    says: ['Ready=True/Configured'],
    applies: ['Job weather-agent'],
  },
  {
    reason: 'a Job enrolled in time stays Active after it has started, also when the configuration changes',
    given: { target: { found: enrolledWorkload({ kind: 'Job', hash: otherHash, status: { startTime: 'x' } }) } },
    phase: 'Active',
    says: ['TargetResolved=True/TargetFound', 'Ready=True/Configured'],
    applies: [],
  },
  {
    reason: 'a CronJob takes effect at its next run, without a place in the rollout',
    given: { target: { found: enrolledWorkload({ kind: 'CronJob', hash: otherHash }) } },
    phase: 'Active',
    says: ['Ready=True/Configured'],
    applies: ['CronJob weather-agent'],
  },
  {
    reason: 'RC-07 the younger of two loses and writes nothing',
    given: { rivals: [runtime({ name: 'older', created: '2025-01-01T00:00:00Z' })] },
    phase: 'Error',
    says: ['TargetResolved=True/TargetFound', 'Ready=False/DuplicateTarget'],
    message: /AgentRuntime older is older/,
    applies: [],
    events: ['DuplicateTarget'],
  },
  {
    reason: 'RC-07 the older of two wins',
    given: { rivals: [runtime({ name: 'younger', created: '2026-06-01T00:00:00Z' })] },
    phase: 'Active',
    says: ['Ready=True/Configured'],
    applies: D0,
  },
  {
    reason: 'RC-07 of two of the same second the smaller uid wins',
    given: { rivals: [runtime({ name: 'a' })] },
    phase: 'Error',
    says: ['Ready=False/DuplicateTarget'],
    applies: [],
  },
  {
    reason: 'a change of type is immediate',
    given: {
      target: {
        found: enrolledWorkload({ labels: { [labels.type]: 'tool' }, templateLabels: { [labels.type]: 'tool' } }),
      },
    },
    phase: 'Active',
    says: ['Ready=True/Configured'],
    applies: D0,
  },
  {
    reason: 'GO-01 one removal by hand is simply repaired',
    given: { target: { found: enrolledWorkload({ templateLabels: { [labels.type]: '' } }) } },
    phase: 'Active',
    says: ['Ready=True/Configured'],
    applies: D0,
  },
  {
    reason: 'GO-01 a fight pauses us and names the other',
    given: { standing: { kind: 'paused', forMs: 10_000, isNew: true, manager: 'argocd-controller' } },
    phase: 'Error',
    says: ['Ready=False/FieldConflict'],
    message: /^Field manager "argocd-controller" keeps undoing/,
    applies: [],
    events: ['FieldConflict'],
  },
  {
    reason: 'GO-01 on probation we apply and still say so',
    given: { standing: { kind: 'probation', forMs: 120_000, manager: '' } },
    phase: 'Error',
    says: ['Ready=False/FieldConflict'],
    message: /^Another actor keeps/,
    applies: D0,
  },
]);
