/** When a custom resource of ours is well, as expressions of the languages that GitOps tools ask for: Lua for Argo CD, CEL for Flux. */

import type { agentCardReasons } from '../../runtime/api/conditions.ts';
import type { AgentRuntime } from '../../runtime/api/agent-runtime.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import { apiGroup, apiVersion } from '../../runtime/api/names.ts';

/** What of a status that is not ready says that a person must act; anything else is awaited. */
interface Failure {
  readonly phase?: NonNullable<NonNullable<AgentRuntime['status']>['phase']>;
  readonly reasons?: readonly (typeof agentCardReasons.Ready)[number][];
}

const failures: readonly (readonly [kind: string, failure: Failure])[] = [
  [kinds.agentRuntime.kind, { phase: 'Error' }],
  [kinds.agentCard.kind, { reasons: ['NotVerified', 'CardTooLarge'] }],
];

/** An entry of Flux's `healthCheckExprs`. */
export interface HealthCheck {
  readonly apiVersion: string;
  readonly kind: string;
  readonly current: string;
  readonly failed: string;
}

const observed = 'status.observedGeneration == metadata.generation';
const ready = (test: string) => `status.conditions.exists(c, c.type == 'Ready' && ${test})`;

/** Flux: the checks of our kinds among `present`. Neither true is "in progress", as is a status that is not there yet. */
export function celChecks(present: readonly string[]): readonly HealthCheck[] {
  return failures
    .filter(([kind]) => present.includes(kind))
    .map(([kind, { phase, reasons = [] }]) => {
      const why = reasons.map((reason) => `'${reason}'`).join(', ');
      const failure =
        phase === undefined ? ready(`c.status == 'False' && c.reason in [${why}]`) : `status.phase == '${phase}'`;
      return {
        apiVersion,
        kind,
        current: `${observed} && ${ready("c.status == 'True'")}`,
        failed: `${observed} && ${failure}`,
      };
    });
}

/** Argo CD: key of its ConfigMap `argocd-cm` → script, for each of our kinds. */
export function luaChecks(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    failures.map(([kind, failure]) => [`resource.customizations.health.${apiGroup}_${kind}`, lua(failure)]),
  );
}

function lua({ phase, reasons = [] }: Failure): string {
  const failed =
    phase === undefined
      ? reasons.map((reason) => `c.reason == "${reason}"`).join(' or ')
      : `obj.status.phase == "${phase}"`;
  return `local hs = { status = "Progressing", message = "the operator has not looked at it yet" }
if obj.status == nil or obj.status.conditions == nil or obj.status.observedGeneration ~= obj.metadata.generation then
  return hs
end
for _, c in ipairs(obj.status.conditions) do
  if c.type == "Ready" then
    hs.message = c.message
    if c.status == "True" then
      hs.status = "Healthy"
    elseif ${failed} then
      hs.status = "Degraded"
    end
  end
end
return hs
`;
}
