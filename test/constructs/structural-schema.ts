/** The rules a CustomResourceDefinition's schema must obey to be structural, checked without an API server. */

interface Schema {
  readonly [keyword: string]: unknown;
}

/** Keywords an apiextensions v1 schema may have. `$ref`, `const`, `patternProperties`, `if`, `definitions` and the rest may not. */
const structure = [
  'type',
  'properties',
  'items',
  'additionalProperties',
  'title',
  'description',
  'default',
  'nullable',
];
const extensions = [
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-validations',
];
const values = 'enum format pattern minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf'
  .concat(' minItems maxItems minProperties maxProperties required allOf anyOf oneOf not')
  .split(' ');
const known = new Set([...structure, ...extensions, ...values]);

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Every violation, with its path; none for a structural schema whose every string, list and map is bounded. */
export function structuralViolations(schema: unknown, path = ''): readonly string[] {
  if (!isSchema(schema)) return [`${path}: not a schema`];
  const at = (message: string) => `${path}: ${message}`;
  return [
    ...Object.keys(schema)
      .filter((keyword) => !known.has(keyword))
      .map((keyword) => at(`keyword ${keyword} is not allowed`)),
    ...shapeViolations(schema).map(at),
    ...boundViolations(schema).map(at),
    ...listMapViolations(schema).map(at),
    ...Object.entries(isSchema(schema['properties']) ? schema['properties'] : {}).flatMap(([name, below]) =>
      structuralViolations(below, `${path}.${name}`),
    ),
    ...(schema['items'] === undefined ? [] : structuralViolations(schema['items'], `${path}[]`)),
    ...(isSchema(schema['additionalProperties'])
      ? structuralViolations(schema['additionalProperties'], `${path}{}`)
      : []),
    ...['allOf', 'anyOf', 'oneOf'].flatMap((junctor) =>
      ((schema[junctor] ?? []) as readonly Schema[]).flatMap((below) => junctorViolations(below, `${path}/${junctor}`)),
    ),
  ];
}

function shapeViolations(schema: Schema): readonly string[] {
  const { type, properties, additionalProperties, items, exclusiveMinimum, exclusiveMaximum } = schema;
  const required = (schema['required'] ?? []) as readonly string[];
  const checks: readonly (readonly [boolean, string])[] = [
    [typeof type !== 'string' && schema['x-kubernetes-int-or-string'] !== true, 'has no type'],
    [properties !== undefined && additionalProperties !== undefined, 'has both properties and additionalProperties'],
    [additionalProperties === false, 'additionalProperties: false is forbidden'],
    [type === 'array' && !isSchema(items), 'an array needs one items schema'],
    [exclusiveMinimum !== undefined && typeof exclusiveMinimum !== 'boolean', 'exclusiveMinimum must be a boolean'],
    [exclusiveMaximum !== undefined && typeof exclusiveMaximum !== 'boolean', 'exclusiveMaximum must be a boolean'],
    [required.some((name) => !isSchema(properties) || !(name in properties)), 'requires what it does not declare'],
  ];
  return checks.filter(([isWrong]) => isWrong).map(([, message]) => message);
}

/** Not a rule of structural schemas but of ours: no field can grow without end, and CEL costs stay bounded. */
function boundViolations(schema: Schema): readonly string[] {
  const { type, format, maxLength, maxItems, maxProperties, additionalProperties } = schema;
  const isBoundedText = schema['enum'] !== undefined || maxLength !== undefined || format === 'date-time';
  if (type === 'string' && !isBoundedText) return ['a string without maxLength'];
  if (type === 'array' && maxItems === undefined) return ['a list without maxItems'];
  if (additionalProperties !== undefined && maxProperties === undefined) return ['a map without maxProperties'];
  return [];
}

function listMapViolations(schema: Schema): readonly string[] {
  if (schema['x-kubernetes-list-type'] !== 'map') return [];
  const items = isSchema(schema['items']) ? schema['items'] : {};
  const required = (items['required'] ?? []) as readonly string[];
  const keys = (schema['x-kubernetes-list-map-keys'] ?? []) as readonly string[];
  return keys.filter((key) => !required.includes(key)).map((key) => `list-map key ${key} is not required in its items`);
}

/** Inside a junctor only values may be constrained, never structure described. */
function junctorViolations(schema: Schema, path: string): readonly string[] {
  const wrong = Object.keys(schema).filter(
    (keyword) => [...structure, ...extensions].includes(keyword) && keyword !== 'properties',
  );
  return wrong.map((keyword) => `${path}: ${keyword} inside a junctor`);
}
