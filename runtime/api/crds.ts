/** The CustomResourceDefinitions, rendered from the schemas beside this file: the one statement of each resource. */

import { AgentCardSpec, AgentCardStatus, agentCardCrd } from './agent-card.ts';
import { AgentRuntimeSpec, AgentRuntimeStatus, agentRuntimeCrd } from './agent-runtime.ts';
import { apiGroup } from './names.ts';
import type { TSchema } from './schema.ts';

/** A resource as its CustomResourceDefinition needs it. */
export interface CrdSource {
  readonly kind: string;
  readonly description: string;
  readonly spec: TSchema;
  readonly status: TSchema;
  /** What the CRD says beside the schemas. */
  readonly facts: {
    readonly plural: string;
    readonly singular: string;
    readonly shortNames: readonly string[];
    readonly categories: readonly string[];
    readonly columns: readonly { readonly name: string; readonly type: string; readonly jsonPath: string }[];
    readonly selectableFields: readonly string[];
  };
}

/** Every custom resource of the platform. */
export const crdSources: readonly CrdSource[] = [
  {
    kind: 'AgentRuntime',
    description:
      'AgentRuntime enrols one workload of its namespace as an agent or a tool and overrides platform defaults for it.',
    spec: AgentRuntimeSpec,
    status: AgentRuntimeStatus,
    facts: agentRuntimeCrd,
  },
  {
    kind: 'AgentCard',
    description: 'AgentCard holds the A2A card of one workload of its namespace, as it was fetched and verified.',
    spec: AgentCardSpec,
    status: AgentCardStatus,
    facts: agentCardCrd,
  },
];

/** Names of the CustomResourceDefinitions. */
export const crdNames: readonly string[] = crdSources.map(nameOf);

function nameOf({ facts }: CrdSource): string {
  return `${facts.plural}.${apiGroup}`;
}

/** A CustomResourceDefinition as plain JSON. */
export interface CrdManifest {
  readonly apiVersion: 'apiextensions.k8s.io/v1';
  readonly kind: 'CustomResourceDefinition';
  readonly metadata: { readonly name: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

/** The schema as the API server takes it: JSON only, none of the schema library's own marks. */
function plain(schema: TSchema): Readonly<Record<string, unknown>> {
  return JSON.parse(JSON.stringify(schema)) as Readonly<Record<string, unknown>>;
}

/**
 * The CustomResourceDefinition of one resource: namespaced, one served and stored version, status subresource.
 * It holds no schema default ("unset" must stay distinguishable from a default) and no CEL rule: what a person may get
 * wrong beyond the schema is answered by the validator or the status, so that an invalid object can always be deleted.
 */
export function crdManifest(source: CrdSource): CrdManifest {
  const { kind, description, spec, status, facts } = source;
  const { plural, singular, shortNames, categories, columns, selectableFields } = facts;
  const schema = {
    type: 'object',
    description,
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string', description: `Version of this schema: ${apiGroup}/v1alpha1.` },
      kind: { type: 'string', description: 'Kind of the object.' },
      metadata: { type: 'object' },
      spec: plain(spec),
      status: plain(status),
    },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: nameOf(source) },
    spec: {
      group: apiGroup,
      names: { kind, listKind: `${kind}List`, plural, singular, shortNames, categories },
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: columns,
          selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })),
          schema: { openAPIV3Schema: schema },
        },
      ],
    },
  };
}
