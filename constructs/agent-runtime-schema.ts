/** What is wrong with the props of an AgentRuntime. */

import { Type } from 'typebox';
import { AgentRuntimeSpec } from '../runtime/api/agent-runtime.ts';
import { shown } from '../runtime/config/problem.ts';
import type { Violation } from '../runtime/config/violation.ts';
import { NamespaceName, ObjectName } from './prop-schemas.ts';
import { propViolations } from './refusal.ts';
import { targetedSchema, targetedViolations } from './targeted-props.ts';

const Schema = targetedSchema(AgentRuntimeSpec);

/** Every violation of the props. `props` may be anything: not every caller type-checks. */
export function agentRuntimeViolations(props: unknown): readonly Violation[] {
  return [...targetedViolations(Schema, props), ...repeatedSkills(props)];
}

const Reference = Type.Object({ name: ObjectName, namespace: Type.Optional(NamespaceName) });

/** What is wrong with the name of an AgentRuntime that is made elsewhere. */
export function referenceViolations(reference: unknown): readonly Violation[] {
  return propViolations(Reference, reference);
}

/** The API server takes `skills` for a set. */
function repeatedSkills(props: unknown): readonly Violation[] {
  const { skills } = (props ?? {}) as Readonly<Record<string, unknown>>;
  if (!Array.isArray(skills)) return [];
  return skills.flatMap((skill, index) =>
    skills.indexOf(skill) === index
      ? []
      : [{ path: `skills[${index}]`, message: `${shown(skill)} is listed twice; remove one` }],
  );
}
