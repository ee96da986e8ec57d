/** The CustomResourceDefinitions: structural, bounded, with the columns and names the contract asks for. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { Type } from 'typebox';
import { crdManifest, crdSources } from '../../constructs/crds.ts';
import { structuralViolations } from './structural-schema.ts';
import { one, platform } from './synthesized.ts';

interface Version {
  readonly additionalPrinterColumns: readonly { readonly name: string }[];
  readonly subresources: unknown;
  readonly schema: { readonly openAPIV3Schema: { readonly properties: Readonly<Record<string, unknown>> } };
}

const versionOf = (kind: string): Version => {
  const source = crdSources.find((row) => row.kind === kind);
  if (source === undefined) throw new Error(`no CRD ${kind}`);
  const [version] = crdManifest(source).spec['versions'] as readonly Version[];
  if (version === undefined) throw new Error(`${kind} has no version`);
  return version;
};

/** Paths of the fields and objects that `kubectl explain` would show without a word. */
function undescribed(schema: unknown, at: string): readonly string[] {
  const {
    description,
    properties = {},
    items,
  } = schema as {
    readonly description?: string;
    readonly properties?: Readonly<Record<string, unknown>>;
    readonly items?: { readonly properties?: Readonly<Record<string, unknown>> };
  };
  const below = { ...properties, ...items?.properties };
  return [
    ...(description === undefined ? [at] : []),
    ...Object.entries(below).flatMap(([name, field]) => undescribed(field, `${at}.${name}`)),
  ];
}

for (const { kind } of crdSources) {
  test(`${kind}: every field is explained`, () => {
    const { openAPIV3Schema } = versionOf(kind).schema;
    const { metadata: _, ...properties } = openAPIV3Schema.properties;
    assert.deepEqual(undescribed({ ...openAPIV3Schema, properties }, kind), []);
  });

  test(`${kind}: spec and status are structural, and every string, list and map is bounded`, () => {
    const { properties } = versionOf(kind).schema.openAPIV3Schema;
    assert.deepEqual(structuralViolations(properties['spec'], 'spec'), []);
    assert.deepEqual(structuralViolations(properties['status'], 'status'), []);
  });

  test(`${kind}: no field has a schema default, so that "unset" stays distinguishable`, () => {
    assert.equal(JSON.stringify(versionOf(kind)).includes('"default":'), false);
  });

  test(`${kind}: status is a subresource`, () => {
    assert.deepEqual(versionOf(kind).subresources, { status: {} });
  });
}

const contract = {
  AgentRuntime: {
    names: { plural: 'agentruntimes', singular: 'agentruntime', shortNames: ['art', 'agentrt'] },
    columns: ['Type', 'Target', 'Phase', 'Ready', 'Pods', 'Age'],
  },
  AgentCard: {
    names: { plural: 'agentcards', singular: 'agentcard', shortNames: ['card', 'cards'] },
    columns: ['Protocol', 'Kind', 'Target', 'Agent', 'Verified', 'Bound', 'Synced', 'LastSync', 'Age'],
  },
} as const;

for (const [kind, { names, columns }] of Object.entries(contract)) {
  test(`${kind} has the names and columns of the contract`, () => {
    const crd = one(platform(), 'CustomResourceDefinition', `${names.plural}.agent.rossoctl.dev`);
    assert.deepEqual(crd['spec'].names, { kind, listKind: `${kind}List`, ...names, categories: ['rossoctl'] });
    assert.deepEqual(
      versionOf(kind).additionalPrinterColumns.map(({ name }) => name),
      columns,
    );
  });
}

const broken: readonly (readonly [what: string, schema: unknown, says: RegExp])[] = [
  ['a literal', Type.Object({ a: Type.Literal('x') }), /\.a: keyword const/],
  ['a union', Type.Object({ a: Type.Union([Type.Literal('x'), Type.Literal('y')]) }), /\.a: has no type/],
  ['a record', Type.Record(Type.String(), Type.String({ maxLength: 1 })), /patternProperties/],
  ['a closed object', Type.Object({}, { additionalProperties: false }), /additionalProperties: false/],
  ['a string without end', Type.Object({ a: Type.String() }), /\.a: a string without maxLength/],
  ['a list without end', Type.Array(Type.Boolean()), /a list without maxItems/],
  ['a numeric exclusiveMinimum', Type.Number({ exclusiveMinimum: 0 }), /exclusiveMinimum must be a boolean/],
  [
    'a list-map with an optional key',
    Type.Array(Type.Object({ k: Type.Optional(Type.Boolean()) }), {
      maxItems: 1,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    }),
    /list-map key k is not required/,
  ],
];
for (const [what, schema, says] of broken) {
  test(`the gate sees ${what}`, () => {
    assert.match(structuralViolations(JSON.parse(JSON.stringify(schema))).join('\n'), says);
  });
}
