/** What the API server would keep of a value under a structural schema: server-side apply refuses the rest instead of dropping it. */

/** A structural schema, as far as it names what is kept. */
export interface PruningSchema {
  readonly properties?: Readonly<Record<string, PruningSchema>>;
  readonly items?: PruningSchema;
  readonly additionalProperties?: PruningSchema | boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
}

/** `value` without the fields that the schema does not have, at any depth. */
export function pruned(value: unknown, schema: PruningSchema): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => pruned(item, schema.items ?? {}));
  if (typeof value !== 'object' || value === null) return value;
  const { properties = {}, additionalProperties, 'x-kubernetes-preserve-unknown-fields': isOpen } = schema;
  const others = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  const known = Object.entries(value).flatMap(([key, child]: [string, unknown]): readonly [string, unknown][] => {
    const of = Object.hasOwn(properties, key) ? properties[key] : others;
    if (of !== undefined) return [[key, pruned(child, of)]];
    return isOpen === true || additionalProperties === true ? [[key, child]] : [];
  });
  return Object.fromEntries(known);
}
