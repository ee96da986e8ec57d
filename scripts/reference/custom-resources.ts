/** The page of the custom resources: names, columns, and every field of their schemas. */

import { crdSources } from '../../constructs/crds.ts';
import { agentCardDefaults } from '../../runtime/api/agent-card.ts';
import { apiGroup, apiVersion } from '../../runtime/api/names.ts';
import { code, codes, pageText, table } from './markdown.ts';
import { allowed, fieldRows, type SchemaNode } from './schema-rows.ts';

/** What the operator takes for a field that is not set. The schemas have no defaults: "unset" stays distinguishable. */
const unset: Readonly<Record<string, string>> = {
  'AgentRuntime spec.authBridgeMode': inherited('authBridge.mode'),
  'AgentRuntime spec.mtlsMode': inherited('mtls.mode'),
  'AgentRuntime spec.skills': 'none',
  'AgentRuntime spec.identity.spiffe.trustDomain': inherited('spiffe.trustDomain'),
  'AgentRuntime spec.identity.allowedAudiences': inherited('identity.allowedAudiences'),
  'AgentRuntime spec.identity.clientRegistration.provider': inherited('identity.provider'),
  'AgentRuntime spec.identity.clientRegistration.keycloak.url': inherited('identity.url'),
  'AgentRuntime spec.identity.clientRegistration.keycloak.realm': inherited('identity.realm'),
  'AgentRuntime spec.identity.clientRegistration.keycloak.adminCredentialsSecret': inherited(
    'identity.adminCredentialsSecret',
  ),
  'AgentRuntime spec.trace.endpoint': inherited('trace.endpoint'),
  'AgentRuntime spec.trace.protocol': inherited('trace.protocol'),
  'AgentRuntime spec.trace.sampling.type': inherited('trace.sampling.type'),
  'AgentRuntime spec.trace.sampling.rate': inherited('trace.sampling.rate'),
  'AgentCard spec.syncPeriod': code(`${agentCardDefaults.syncPeriodMs / 1000}s`),
  'AgentCard spec.identityBinding.trustDomain': `the install's: option ${code('--spire-trust-domain')}`,
  'AgentCard spec.identityBinding.scope': `the install's: option ${code('--identity-binding-scope')}`,
  'AgentCard spec.identityBinding.strict': code(String(agentCardDefaults.strict)),
};

function inherited(setting: string): string {
  return `setting ${code(setting)}`;
}

type CrdSource = (typeof crdSources)[number];

/** The page. Throws when a field has no text, or an optional one that can be set has no default, naming it. */
export function customResourcesPage(sources: readonly CrdSource[] = crdSources): string {
  return pageText({
    title: 'Custom resources',
    intro: [
      `Group and version ${code(apiVersion)}. Both kinds are namespaced and have a status subresource. Their manifests are in [crds](crds); what`,
      'conditions and reasons mean is in [conditions](conditions.md).',
      '',
      'Unknown fields are dropped by the API server, with a warning where the client asks for one (`kubectl` does). A field that is not set is stored as',
      'not set: the column "when not set" says what the operator then takes, and nothing is written back.',
    ].join('\n'),
    parts: sources.flatMap(resource),
  });
}

function resource(source: CrdSource): readonly string[] {
  const { kind, description, facts } = source;
  const { plural, singular, shortNames, categories, columns, selectableFields } = facts;
  return [
    `## ${kind}`,
    description,
    `${code(`${plural}.${apiGroup}`)}; singular ${code(singular)}, short names ${codes(shortNames)}, category ${codes(categories)}; lists can be narrowed by field ${codes(
      selectableFields,
    )} (Kubernetes 1.31 and later).`,
    `### ${kind}: columns`,
    table(
      ['column', 'type', 'from'],
      columns.map(({ name, type, jsonPath }) => [name, type, code(jsonPath)]),
    ),
    ...part(kind, 'spec', source.spec as SchemaNode),
    ...part(kind, 'status', source.status as SchemaNode),
  ];
}

function part(kind: string, name: 'spec' | 'status', schema: SchemaNode): readonly string[] {
  const rows = fieldRows(schema, name).map(({ path, node, isRequired }) => {
    const where = `${kind} ${path}`;
    if (node.description === undefined) throw new Error(`${where} has no description in its schema`);
    const cells = [code(path), allowed(node), node.description];
    return name === 'status' ? cells : [...cells, isRequired ? 'required' : whenUnset(where, node)];
  });
  const columns = ['field', 'value', 'what it is', ...(name === 'status' ? [] : ['when not set'])];
  return [`### ${kind}: ${name}`, schema.description ?? '', table(columns, rows)].filter((block) => block !== '');
}

function whenUnset(where: string, node: SchemaNode): string {
  const known = unset[where];
  if (known !== undefined) return known;
  if (node.type === 'object') return '';
  throw new Error(`${where}: scripts/reference/custom-resources.ts does not say what is taken when it is not set`);
}
