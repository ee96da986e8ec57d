/** What is wrong with the props of an AgentRuntime: by the resource's own schema, before the API server says it. */

import { Type } from 'typebox';
import { AgentRuntimeSpec } from '../runtime/api/agent-runtime.ts';
import { TargetRef } from '../runtime/api/target-ref.ts';
import type { Violation } from '../runtime/config/problem.ts';
import { NamespaceName, ObjectName } from './prop-schemas.ts';
import { propViolations } from './refusal.ts';

const { targetRef: _, ...specSchemas } = AgentRuntimeSpec.properties;

/** The props: the spec, with the workload instead of a reference, and the resource's own name and place. */
const Schema = Type.Object({
  target: TargetRef,
  ...specSchemas,
  name: Type.Optional(ObjectName),
  namespace: Type.Optional(NamespaceName),
});

/** Every violation of the props by their schema. `props` may be anything: not every caller type-checks. */
export function agentRuntimeViolations(props: unknown): readonly Violation[] {
  const { target, ...rest } = (props ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof target !== 'object' || target === null) {
    const message = 'is missing; give the workload: a construct, or { apiVersion, kind, name }';
    return [{ path: 'target', message }, ...propViolations(Type.Omit(Schema, ['target']), rest)];
  }
  const { apiVersion, kind, name } = target as Readonly<Record<string, unknown>>;
  return [
    ...propViolations(Schema, { ...rest, target: {} }),
    ...propViolations(TargetRef, { apiVersion, kind, name }).map(({ path, message }) => ({
      path: `target.${path}`,
      message,
    })),
    ...repeatedSkills(rest['skills']),
  ];
}

/** The API server takes `skills` for a set. */
function repeatedSkills(skills: unknown): readonly Violation[] {
  if (!Array.isArray(skills)) return [];
  return skills.flatMap((skill, index) =>
    skills.indexOf(skill) === index
      ? []
      : [{ path: `skills[${index}]`, message: `${JSON.stringify(skill)} is listed twice; remove one` }],
  );
}
