/** What is wrong with the props of a resource that targets a workload: by the resource's own schema, before the API server says it. */

import { Construct } from 'constructs';
import { type TObject, type TProperties, type TSchema, Type } from 'typebox';
import { TargetRef } from '../runtime/api/target-ref.ts';
import type { Violation } from '../runtime/config/violation.ts';
import { NamespaceName, ObjectName } from './prop-schemas.ts';
import { propViolations } from './refusal.ts';

/** The props of such a resource: its spec, with the workload instead of a reference, and its own name and place. */
export function targetedSchema({ properties }: { readonly properties: Readonly<Record<string, TSchema>> }): TObject {
  const { targetRef: _, ...specSchemas } = properties;
  return Type.Object({
    target: TargetRef,
    ...specSchemas,
    name: Type.Optional(ObjectName),
    namespace: Type.Optional(NamespaceName),
  } as TProperties);
}

/** Every violation of the props by their schema. `props` may be anything: not every caller type-checks. */
export function targetedViolations(schema: TObject, props: unknown): readonly Violation[] {
  const { target, ...rest } = (props ?? {}) as Readonly<Record<string, unknown>>;
  const others = propViolations(schema, { ...rest, target: {} });
  if (typeof target !== 'object' || target === null) {
    const message = 'is missing; give the workload: a construct, or { apiVersion, kind, name }';
    return [{ path: 'target', message }, ...others];
  }
  const { apiVersion, kind, name } = target as Readonly<Record<string, unknown>>;
  // A construct has much besides; a plain reference says these three and nothing else.
  const said = Construct.isConstruct(target) ? { apiVersion, kind, name } : target;
  return [
    ...others,
    ...propViolations(TargetRef, said).map(({ path, message }) => ({
      path: `target.${path}`,
      message,
    })),
  ];
}
