/** The page of the constructs: every exported class with its attributes and methods, every props interface, and the types they use. */

import { AgentPlatformSchema } from '../../constructs/agent-platform-schema.ts';
import { AgentPropsSchema } from '../../constructs/agent-schema.ts';
import { AgentCardSpec } from '../../runtime/api/agent-card.ts';
import { AgentRuntimeSpec } from '../../runtime/api/agent-runtime.ts';
import type { Declaration, Member } from './declarations.ts';
import { code, pageText, table } from './markdown.ts';
import { bounds, type SchemaNode } from './schema-rows.ts';

const platform = AgentPlatformSchema.properties as Readonly<Record<string, SchemaNode>>;
const verification = platform['verification']?.properties;

/** The schema of an interface's props, for their bounds; and for their text, where they follow from a custom resource. */
const schemas: Readonly<Record<string, Readonly<Record<string, SchemaNode>> | undefined>> = {
  AgentPlatformProps: platform,
  VerificationProps: verification,
  TrustBundleSource: verification?.['trustBundle']?.properties,
  CardFetchProps: platform['cardFetches']?.properties,
  ApiRequestProps: platform['apiRequests']?.properties,
  NetworkPolicyProps: platform['networkPolicies']?.properties,
  AgentProps: AgentPropsSchema.properties as Readonly<Record<string, SchemaNode>>,
  AgentRuntimeProps: AgentRuntimeSpec.properties as Readonly<Record<string, SchemaNode>>,
  AgentCardProps: AgentCardSpec.properties as Readonly<Record<string, SchemaNode>>,
};

/** Where what is taken for a field that is not set is told. */
const resources: Readonly<Record<string, string>> = {
  AgentRuntimeProps: '[as in the resource](custom-resources.md#agentruntime-spec)',
  AgentCardProps: '[as in the resource](custom-resources.md#agentcard-spec)',
};

/**
 * The page of what `constructs/index.ts` exports, and at its end what makes Pulumi resources of it. Throws, naming them all, when exports or members
 * have no text, or optional props no `@default`.
 */
export function constructsPage(declarations: readonly Declaration[], pulumi: readonly Declaration[]): string {
  const missing = [...declarations, ...pulumi].flatMap(missingIn);
  if (missing.length > 0) throw new Error(`docstrings are missing:\n  ${missing.join('\n  ')}`);
  const of = (kind: Declaration['kind'], among = declarations) =>
    among.filter((each) => each.kind === kind).sort(byName);
  return pageText({
    title: 'Constructs',
    intro: [
      "What `import { … } from 'rossoctl'` gives. How it is put together, and what is refused at synthesis, is told in [constructs](../constructs.md). All props",
      'and attributes are read-only.',
    ].join('\n'),
    parts: [
      '## Classes',
      ...of('class').flatMap(classParts),
      '## Props and other interfaces',
      ...of('interface').flatMap(interfaceParts),
      '## Types',
      ...of('type').flatMap(typeParts),
      '## As Pulumi resources',
      "What `import { … } from 'rossoctl/stacks/kubernetes-app'` gives to a [program of your own](../pulumi.md#a-teams-agents).",
      ...of('class', pulumi).flatMap(classParts),
      ...of('interface', pulumi).flatMap(interfaceParts),
    ],
  });
}

function byName(a: Declaration, b: Declaration): number {
  return a.name < b.name ? -1 : 1;
}

function missingIn(declaration: Declaration): readonly string[] {
  const { name, kind, text, members } = declaration;
  const without = members.flatMap((member) => {
    const where = `${name}.${member.name}`;
    return [
      ...(member.kind === 'constructor' || textOf(declaration, member) !== '' ? [] : [`${where} has no text`]),
      ...(kind === 'interface' && defaultOf(declaration, member) === '' ? [`${where} has no @default`] : []),
    ];
  });
  return [...(text === '' ? [`${name} has no text`] : []), ...without];
}

function classParts({ name, text, members }: Declaration): readonly string[] {
  const of = (kind: Member['kind']) => members.filter((member) => member.kind === kind);
  const rows = (kind: Member['kind'], shown: (member: Member) => string) =>
    of(kind).map((member) => [code(shown(member)), member.text]);
  const list = (title: string, cells: readonly (readonly string[])[]) =>
    cells.length === 0 ? [] : [table([title, 'what it is'], cells)];
  return [
    `### ${name}`,
    text,
    ...of('constructor').flatMap((member) => [
      code(`new ${name}${member.type}`),
      ...(member.text === '' ? [] : [member.text]),
    ]),
    ...list(
      'attribute',
      rows('property', (member) => `${member.name}: ${member.type}`),
    ),
    ...list(
      'method',
      rows('method', (member) => `${member.name}${member.type}`),
    ),
  ];
}

function interfaceParts(declaration: Declaration): readonly string[] {
  const { name, text, members } = declaration;
  const rows = members.map((member) => [
    code(member.name),
    typeOf(declaration, member),
    defaultOf(declaration, member),
    textOf(declaration, member),
  ]);
  return [`### ${name}`, text, table(['prop', 'type', 'default', 'what it is'], rows)];
}

/** Where the fields of a type are told that follows from a schema. */
const elsewhere: Readonly<Record<string, string>> = {
  AgentCardOverrides: '[AgentCard: spec](custom-resources.md#agentcard-spec)',
  AgentRuntimeOverrides: '[AgentRuntime: spec](custom-resources.md#agentruntime-spec)',
  FeatureGates: '[feature gates](settings.md#feature-gates)',
  NamespaceConfig: '[what a namespace may set](settings.md#what-a-namespace-may-set)',
  PartialConfig: '[platform configuration](settings.md#platform-configuration)',
};

function typeParts({ name, text, definition }: Declaration): readonly string[] {
  const fields = definition === undefined ? elsewhere[name] : code(definition);
  if (fields === undefined)
    throw new Error(`scripts/reference/constructs.ts does not say where the fields of ${name} are`);
  return [`### ${name}`, text, fields];
}

function schemaOf({ name }: Declaration, member: Member): SchemaNode | undefined {
  return schemas[name]?.[member.name];
}

function typeOf(declaration: Declaration, member: Member): string {
  const schema = schemaOf(declaration, member);
  const limits = schema === undefined ? '' : bounds(schema);
  const type = member.type === 'a section' ? 'section' : code(member.type.replace(/ \| undefined$/, ''));
  return limits === '' ? type : `${type}, ${limits}`;
}

function textOf(declaration: Declaration, member: Member): string {
  return member.isFromSchema ? (schemaOf(declaration, member)?.description ?? '') : member.text;
}

function defaultOf({ name }: Declaration, member: Member): string {
  if (!member.isOptional) return member.type.endsWith('| undefined') ? 'none' : 'required';
  return member.byDefault ?? (member.isFromSchema ? (resources[name] ?? '') : '');
}
