/** Observations of one card each, what comes of them, and how tests read a plan. */

import type { NetworkPolicy } from '../../../runtime/api/kubernetes.ts';
import { operatorPodLabels } from '../../../runtime/api/names.ts';
import type { Plan } from '../../../runtime/engine/types.ts';
import type { Observed } from '../../../runtime/network-policy/observed.ts';
import { permissiveRules, restrictiveRules } from '../../../runtime/network-policy/policies.ts';
import { judgedPart } from '../../../runtime/workload/verdicts.ts';
import { card, foreignPolicy, permissive, policy, selector, surroundings, workload } from './fixtures.ts';

export const verified = card({ verified: 'True' });
export const unverified = card({ verified: 'False' });
const problem = {
  source: { layer: 'platform', where: 'ConfigMap a/b' },
  kind: 'invalid',
  message: 'ConfigMap a/b: line 1: mtls: is a list',
} as const;

/** Name and rules of what is applied. */
export function written(plan: Plan): readonly string[] {
  const rules = { permissive: permissiveRules(surroundings()), restrictive: restrictiveRules(surroundings()) };
  return (plan.apply ?? []).map(({ body }) => {
    const { ingress, egress } = (body as NetworkPolicy).spec ?? {};
    const found = Object.entries(rules).find(([, one]) => JSON.stringify(one) === JSON.stringify({ ingress, egress }));
    return `${body.metadata.name} ${found?.[0] ?? 'other'}`;
  });
}

/** Names of what goes. */
export const removed = (plan: Plan): readonly string[] => (plan.remove ?? []).map(({ name }) => name);
/** Status and reason of the condition. */
export const said = (plan: Plan): string => {
  const conditions = (
    plan.status as { readonly conditions?: readonly { status: string; reason: string }[] } | undefined
  )?.conditions;
  return (conditions ?? []).map(({ status, reason }) => `${status}/${reason}`).join(' ');
};

export const name = 'weather-signature-policy';
const target = (found: ReturnType<typeof workload>) => ({ found });
export const onHost = workload('Deployment', { selector, template: { spec: { hostNetwork: true, containers: [] } } });

/** A sentence, the observation, and what comes of it. */
export const rows: readonly (readonly [
  what: string,
  over: Partial<Observed>,
  applied: readonly string[],
  gone: readonly string[],
  condition: string,
])[] = [
  ['no verdict yet', {}, [`${name} restrictive`], [], 'True/Restrictive'],
  ['verified', { card: verified }, [`${name} permissive`], [], 'True/Permissive'],
  ['not verified', { card: unverified }, [`${name} restrictive`], [], 'True/Restrictive'],
  [
    'open, and the verdict is withdrawn',
    { card: unverified, policy: permissive() },
    [`${name} restrictive`],
    [],
    'True/Restrictive',
  ],
  ['verified, no workload yet', { card: verified, target: { missing: true } }, [], [], 'False/TargetNotFound'],
  [
    'workload gone, its pods may not be: what selects them stands and follows the verdict',
    { card: unverified, target: { missing: true }, policy: permissive() },
    [`${name} restrictive`],
    [],
    'True/Restrictive',
  ],
  ['a kind that may not be read', { target: { unreadable: '403' } }, [], [], 'False/TargetUnavailable'],
  [
    'a kind that may not be read, selected before',
    { target: { unreadable: '403' }, policy: permissive() },
    [`${name} restrictive`],
    [],
    'True/Restrictive',
  ],
  ['a kind that is none', { target: { unsupported: 'v1 Pod cannot be a target' } }, [], [], 'False/TargetUnsupported'],
  ['a CronJob, which selects nothing', { target: target(workload('CronJob', {})) }, [], [], 'False/NoPodSelector'],
  [
    'an empty selector would be the whole namespace',
    { target: target(workload('Job', { selector: {} })), card: verified },
    [],
    [],
    'False/NoPodSelector',
  ],
  [
    'the host’s network, where no policy applies: it is written, and not said to hold',
    { target: target(onHost), card: verified },
    [`${name} permissive`],
    [],
    'False/HostNetwork',
  ],
  [
    'the host’s network, closed',
    { target: target(onHost), policy: permissive() },
    [`${name} restrictive`],
    [],
    'False/HostNetwork',
  ],
  ['a policy of somebody else has the name', { policy: foreignPolicy(), own: [] }, [], [], 'False/NameTaken'],
  ['the operator’s own pods are cut off by nothing', operators(), [], [], 'False/SelectsOperator'],
  [
    'a configuration that cannot be read, closed',
    { problems: [problem] },
    [`${name} restrictive`],
    [],
    'True/Restrictive',
  ],
  [
    'a configuration that cannot be read, to be opened',
    { problems: [problem], card: verified },
    [`${name} restrictive`],
    [],
    'False/ConfigInvalid',
  ],
  [
    'a configuration that cannot be read, open',
    { problems: [problem], card: verified, policy: open() },
    [],
    [],
    'False/ConfigInvalid',
  ],
  [
    'a configuration that cannot be read, and other pods',
    { problems: [problem], card: verified, policy: open({ podSelector: { matchLabels: { app: 'old' } } }) },
    [`${name} restrictive`],
    [],
    'False/ConfigInvalid',
  ],
  ['audit: ours goes and none is made', { isAudit: true, card: verified, policy: permissive() }, [], [name], ''],
  ['audit: another’s stays', { isAudit: true, policy: foreignPolicy(), own: [] }, [], [], ''],
  ['the namespace ends', { isTerminating: true, policy: policy(), card: verified }, [], [], ''],
  ['a card that does not count', { counts: false, card: verified }, [], [], ''],
  [
    'a card that no longer counts leaves the policy to the one that does',
    { counts: false, policy: policy() },
    [],
    [],
    '',
  ],
  [
    'the card’s target was another',
    { own: [policy({ name: 'old-signature-policy' })] },
    [`${name} restrictive`],
    ['old-signature-policy'],
    'True/Restrictive',
  ],
  [
    'a card that does not count, whose target was another',
    { counts: false, own: [policy({ name: 'old-signature-policy' })] },
    [],
    ['old-signature-policy'],
    '',
  ],
  [
    'the card’s target became one that cannot be selected',
    { target: target(workload('CronJob', {})), policy: policy() },
    [],
    [name],
    'False/NoPodSelector',
  ],
];

/** A permissive policy as it is written: it says for which spec it was opened. */
function open(facts: Parameters<typeof permissive>[0] = {}): NetworkPolicy {
  return permissive({ verdictFor: judgedPart(verified), ...facts });
}

function operators(): Partial<Observed> {
  return {
    card: card({ namespace: 'rossoctl-system', verified: 'False' }),
    target: target(workload('Deployment', { selector: { matchLabels: operatorPodLabels } })),
  };
}
