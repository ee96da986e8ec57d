/** The vocabulary in which custom resources and settings are stated once: schema, static type and CRD come from the same constant. */

import { Type, type TSchema } from 'typebox';

/** One of a few strings. Rendered as `type: string, enum: […]`, which a structural schema allows. */
export function oneOf<const T extends readonly string[]>(values: T, options: Record<string, unknown> = {}) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options });
}

/** A string map, bounded in number and size of its values. */
export function stringMap(options: { maxProperties: number; maxLength: number; description?: string }) {
  const { maxLength, ...rest } = options;
  return Type.Unsafe<Readonly<Record<string, string>>>({
    type: 'object',
    additionalProperties: { type: 'string', maxLength },
    ...rest,
  });
}

/** A CEL rule the API server evaluates (`x-kubernetes-validations`). */
export function cel(rule: string, message: string, fieldPath?: string) {
  return { rule, message, ...(fieldPath === undefined ? {} : { fieldPath }) };
}

/** `conditions`, a list-map keyed by type, as in `metav1.Condition`. */
export const Conditions = Type.Array(
  Type.Object({
    type: Type.String({ maxLength: 316, pattern: '^[A-Za-z][A-Za-z0-9]*$' }),
    status: oneOf(['True', 'False', 'Unknown']),
    reason: Type.String({ minLength: 1, maxLength: 1024, pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$' }),
    message: Type.String({ maxLength: 32768 }),
    lastTransitionTime: Type.String({ format: 'date-time' }),
    observedGeneration: Type.Optional(Type.Integer({ format: 'int64', minimum: 0 })),
  }),
  { maxItems: 32, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] },
);

export type { TSchema };
