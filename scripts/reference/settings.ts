/** The page of the settings: an environment's, the platform's configuration, the feature gates, and what a namespace may set. */

import { configMaps, files, labels } from '../../runtime/api/names.ts';
import { FeatureGates, gateDefaults } from '../../runtime/config/feature-gates.ts';
import { compiledDefaults, PlatformConfig, platformOnly } from '../../runtime/config/platform.ts';
import { AgentsSettings, ClusterSettings, PlatformSettings } from '../../stacks/settings-schema.ts';
import { settingsKeys } from '../../stacks/settings.ts';
import type { Declaration, Member } from './declarations.ts';
import { code, pageText, sentence, table } from './markdown.ts';
import { allowed, type FieldRow, fieldRows, type SchemaNode, valueText } from './schema-rows.ts';
import type { Sources } from './program.ts';
import { schemaTexts } from './schema-texts.ts';

/** The page; `declarations` are those of the constructs. Throws when a setting has no text, naming it. */
export function settingsPage(sources: Sources, declarations: readonly Declaration[]): string {
  const unknown = settingsKeys.filter((key) => environmentSections[key] === undefined);
  if (unknown.length > 0) throw new Error(`scripts/reference/settings.ts does not know ${unknown.join(', ')}`);
  return pageText({
    title: 'Settings',
    intro:
      'How the layers work together is told in [configuration](../configuration.md), how environments are used in [installing](../install.md#environments).',
    parts: [
      '## Environments',
      'In `stacks/Pulumi.<environment>.yaml`, below `config`. Unknown keys are refused with their line; secrets are refused, because manifests only name them.',
      ...settingsKeys.flatMap((key) => environmentParts(key, declarations)),
      ...configurationParts(schemaTexts(sources, 'runtime/config/platform.ts', 'PlatformConfig')),
      ...gateParts(),
      ...namespaceParts(),
    ],
  });
}

interface EnvironmentSection {
  readonly schema: SchemaNode;
  readonly about: string;
  /** The props that say what a setting is and what is taken without it. */
  readonly props?: string;
}

const environmentSections: Readonly<Record<string, EnvironmentSection | undefined>> = {
  'rossoctl:platform': {
    schema: PlatformSettings as SchemaNode,
    about: 'The platform of a cluster.',
    props: 'AgentPlatformProps',
  },
  'rossoctl:agents': {
    schema: AgentsSettings as SchemaNode,
    about:
      "A team's agents, on the platform of another environment. What each may say is in [AgentProps](constructs.md#agentprops), but for its name and namespace.",
  },
  'rossoctl:cluster': {
    schema: ClusterSettings as SchemaNode,
    about: 'How Pulumi reaches the cluster, and how it treats what is there. No manifest depends on it.',
  },
};

/** What is told elsewhere, by the last part of the path. */
const elsewhere: Readonly<Record<string, string>> = {
  config: 'See [platform configuration](#platform-configuration).',
  defaults: 'Defaults of the namespace: see [what a namespace may set](#what-a-namespace-may-set).',
  featureGates: 'See [feature gates](#feature-gates).',
};

function environmentParts(key: string, declarations: readonly Declaration[]): readonly string[] {
  const section = environmentSections[key];
  if (section === undefined) return [];
  const rows = fieldRows(section.schema)
    .filter(
      ({ path }) =>
        !path
          .split('.')
          .slice(0, -1)
          .some((part) => part in elsewhere),
    )
    .map((row) => environmentRow(row, memberAt(declarations, section.props, row.path)));
  return [`### ${key}`, section.about, table(['key', 'value', 'default', 'what it is'], rows)];
}

/** Of a prop its docstring; of what is no prop, the schema's description, which ends in its default. */
function environmentRow({ path, node, isRequired }: FieldRow, member: Member | undefined): readonly string[] {
  const told = elsewhere[path.split('.').at(-1) ?? ''];
  const split = /^(.*?)[;.] default:? ([^;]*?)\.?$/is.exec(node.description ?? '');
  const text = told ?? member?.text ?? split?.[1] ?? node.description ?? '';
  if (text === '') throw new Error(`setting ${path} has no text`);
  const otherwise = isRequired ? 'required' : (member?.byDefault ?? split?.[2] ?? 'none');
  return [code(path), allowed(node), otherwise, sentence(text)];
}

/** The member that a path leads to, through props that are interfaces of their own. */
function memberAt(declarations: readonly Declaration[], name: string | undefined, path: string): Member | undefined {
  const [first = '', ...rest] = path.split('.');
  const member = declarations.find((each) => each.name === name)?.members.find((each) => each.name === first);
  return member === undefined || rest.length === 0 ? member : memberAt(declarations, member.type, rest.join('.'));
}

const isPlatformOnly = (path: string) => platformOnly.some((own) => path === own || path.startsWith(`${own}.`));

function configurationParts(texts: ReadonlyMap<string, string>): readonly string[] {
  const rows = leaves(PlatformConfig as SchemaNode).map(({ path, node }) => {
    const text = texts.get(path) ?? '';
    if (text === '') throw new Error(`setting ${path} has no docstring in runtime/config`);
    return [
      code(path),
      allowed(node),
      valueText(at(compiledDefaults, path)),
      isPlatformOnly(path) ? 'platform' : 'platform, namespace',
      text,
    ];
  });
  const { platform } = configMaps;
  return [
    '## Platform configuration',
    [
      `Key ${code(platform.key)} of ConfigMap ${code(platform.name)} in the operator's namespace, as YAML; or the file ${code(files.config)}. What differs from the`,
      'default is enough. Peers of networks are told in [network policies](../network-policies.md#peers-in-the-configuration).',
    ].join('\n'),
    table(['setting', 'value', 'default', 'set by', 'what it is'], rows),
  ];
}

/** Fields that are no section; a list is one field. */
function leaves(schema: SchemaNode): readonly FieldRow[] {
  return fieldRows(schema).filter(({ path, node }) => node.properties === undefined && !path.includes('[]'));
}

function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((found, key) => (found as Readonly<Record<string, unknown>>)[key], value);
}

function gateParts(): readonly string[] {
  const rows = leaves(FeatureGates as SchemaNode).map(({ path, node }) => {
    if (node.description === undefined) throw new Error(`feature gate ${path} has no description`);
    return [code(path), valueText(at(gateDefaults, path)), node.description];
  });
  const { gates } = configMaps;
  return [
    '## Feature gates',
    `Key ${code(gates.key)} of ConfigMap ${code(gates.name)} in the operator's namespace, or the file ${code(files.gates)}. No namespace and no AgentRuntime can override them.`,
    table(['gate', 'default', 'what it is'], rows),
  ];
}

function namespaceParts(): readonly string[] {
  const { key } = configMaps.namespaceDefaults;
  return [
    '## What a namespace may set',
    [
      `Of the platform configuration, what is set by "platform, namespace": key ${code(key)} of the one ConfigMap in the namespace that is labelled`,
      `${code(`${labels.defaults}: "true"`)}, whatever its name. Anything else is refused there with its path, and so are feature gates.`,
    ].join('\n'),
  ];
}
