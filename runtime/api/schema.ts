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
    type: Type.String({
      maxLength: 316,
      pattern: '^[A-Za-z][A-Za-z0-9]*$',
      description: 'What the condition is about.',
    }),
    status: oneOf(['True', 'False', 'Unknown'], { description: 'Whether it holds.' }),
    reason: Type.String({
      minLength: 1,
      maxLength: 1024,
      pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
      description: 'Why, in one word, for programs.',
    }),
    message: Type.String({ maxLength: 32768, description: 'Why, and what to do, for people.' }),
    lastTransitionTime: Type.String({ format: 'date-time', description: 'When status last changed.' }),
    observedGeneration: Type.Optional(
      Type.Integer({
        format: 'int64',
        minimum: 0,
        description: 'Generation of the spec that the condition is about.',
      }),
    ),
  }),
  {
    maxItems: 32,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
    description: 'Details of the state, one entry a type.',
  },
);

export type { TSchema };
