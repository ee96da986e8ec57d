/** What is wrong with the props of an AgentRuntime. */

import { AgentRuntimeSpec } from '../runtime/api/agent-runtime.ts';
import type { Violation } from '../runtime/config/problem.ts';
import { targetedSchema, targetedViolations } from './targeted-props.ts';

const Schema = targetedSchema(AgentRuntimeSpec);

/** Every violation of the props. `props` may be anything: not every caller type-checks. */
export function agentRuntimeViolations(props: unknown): readonly Violation[] {
  return [...targetedViolations(Schema, props), ...repeatedSkills(props)];
}

/** The API server takes `skills` for a set. */
function repeatedSkills(props: unknown): readonly Violation[] {
  const { skills } = (props ?? {}) as Readonly<Record<string, unknown>>;
  if (!Array.isArray(skills)) return [];
  return skills.flatMap((skill, index) =>
    skills.indexOf(skill) === index
      ? []
      : [{ path: `skills[${index}]`, message: `${JSON.stringify(skill)} is listed twice; remove one` }],
  );
}
