/** AgentRuntime: schema, static types and the facts of its CustomResourceDefinition. */

import { Type } from 'typebox';
import type { KubeObject } from '../engine/types.ts';
import { Conditions, oneOf } from './schema.ts';
import { TargetRef } from './target-ref.ts';

export const agentTypes = ['agent', 'tool'] as const;
export const authBridgeModes = ['envoy-sidecar', 'proxy-sidecar'] as const;
export const mtlsModes = ['disabled', 'permissive', 'strict'] as const;
export const phases = ['Pending', 'Active', 'Error'] as const;

/** DNS-like name of a SPIFFE trust domain (SPIFFE-ID section 2.1: lower-case letters, digits, dots, dashes, underscores). */
export const trustDomainPattern = '^[a-z0-9]([-a-z0-9._]*[a-z0-9])?$';
export const TrustDomain = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: trustDomainPattern,
  description:
    'SPIFFE trust domain without spiffe://, of lower-case letters, digits, dots, dashes and underscores, for example prod.example.',
});
/** A host name, an IPv4 address, or an IPv6 address in brackets, with or without a port from 1 to 65535. */
const authority =
  '(\\[[0-9A-Fa-f:.]+\\]|[^\\s/?#@:\\[\\]]+)(:([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?';
const path = '(/[^\\s?#]*)?';
/** Of an http or https URL without user information, query or fragment: it identifies a server, and must hold no secret. */
export const httpUrlPattern = `https?://${authority}${path}`;
export const HttpUrl = Type.String({
  minLength: 1,
  maxLength: 2048,
  pattern: `^${httpUrlPattern}$`,
  description: 'An http or https URL without user name, query and fragment, for example https://keycloak.example:8443.',
});
/** `host:port`, optionally with an http or https scheme before it. */
export const Endpoint = Type.String({
  minLength: 1,
  maxLength: 2048,
  pattern: `^(https?://)?${authority}${path}$`,
  description:
    'Address of an OpenTelemetry collector, host:port or an http or https URL, for example otel-collector.observability:4317.',
});
/** A realm of Keycloak, which becomes one segment of a path. */
export const Realm = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: '^[^/?#\\s]+$',
  description: 'Keycloak realm, without blanks, slashes, question marks and number signs, for example agents.',
});

export const Sampling = Type.Object(
  {
    type: Type.Optional(
      oneOf(['probabilistic', 'always', 'never'], {
        description: 'How traces are chosen: always, never, or probabilistic, by rate.',
      }),
    ),
    rate: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, description: 'Share of traces kept, 0 to 1; used by probabilistic.' }),
    ),
  },
  { description: 'Which traces are kept.' },
);

const Keycloak = Type.Object(
  {
    url: Type.Optional(HttpUrl),
    realm: Type.Optional(Realm),
    adminCredentialsSecret: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 253,
        pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
        description:
          'Secret with the admin credentials, of lower-case letters, digits, dashes and dots, for example keycloak-admin.',
      }),
    ),
  },
  { description: 'The Keycloak server at which clients are registered.' },
);

const Identity = Type.Object(
  {
    spiffe: Type.Optional(
      Type.Object(
        { trustDomain: Type.Optional(TrustDomain) },
        { description: 'The SPIFFE identity of the workload, from which its certificates are made.' },
      ),
    ),
    allowedAudiences: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
        maxItems: 64,
        description: 'Token audiences accepted on inbound calls; any one suffices.',
      }),
    ),
    clientRegistration: Type.Optional(
      Type.Object(
        {
          provider: Type.Optional(oneOf(['keycloak'], { description: 'Kind of the identity provider.' })),
          keycloak: Type.Optional(Keycloak),
        },
        { description: 'Where the workload is registered as an OAuth client.' },
      ),
    ),
  },
  { description: 'Who the workload is to others, and which callers it accepts.' },
);

/** `spec`. No field has a schema default: "unset" must stay distinguishable, or a CR would always beat its namespace. */
export const AgentRuntimeSpec = Type.Object(
  {
    type: oneOf(agentTypes, {
      description: 'What the workload is, agent or tool. Required. Tools are injected only where the platform says so.',
    }),
    targetRef: TargetRef,
    authBridgeMode: Type.Optional(
      oneOf(authBridgeModes, {
        description:
          'How traffic is captured: envoy-sidecar by iptables, proxy-sidecar as an explicit proxy without NET_ADMIN.',
      }),
    ),
    mtlsMode: Type.Optional(oneOf(mtlsModes, { description: 'Mutual TLS between agents; strict requires SPIFFE.' })),
    skills: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
        maxItems: 256,
        'x-kubernetes-list-type': 'set',
        description: 'Skills the workload offers.',
      }),
    ),
    identity: Type.Optional(Identity),
    trace: Type.Optional(
      Type.Object(
        {
          endpoint: Type.Optional(Endpoint),
          protocol: Type.Optional(oneOf(['grpc', 'http'], { description: 'Protocol of the collector (OTLP).' })),
          sampling: Type.Optional(Sampling),
        },
        { description: 'Where the proxy sends traces, and how many.' },
      ),
    ),
  },
  {
    description:
      'The workload that is enrolled, and the platform settings that differ for it. What is not set follows the namespace, then the platform.',
  },
);

export const AgentRuntimeStatus = Type.Object(
  {
    phase: Type.Optional(
      oneOf(phases, {
        description: 'Pending: the target is awaited or being rolled. Active: configured. Error: a person must act.',
      }),
    ),
    message: Type.Optional(Type.String({ maxLength: 32768, description: 'What is so, and what to do about it.' })),
    observedGeneration: Type.Optional(
      Type.Integer({ format: 'int64', minimum: 0, description: 'Generation of the spec that this status is about.' }),
    ),
    conditions: Type.Optional(Conditions),
    configuredPods: Type.Optional(
      Type.Integer({
        format: 'int32',
        minimum: 0,
        description: 'Running pods of the target that carry the injected containers.',
      }),
    ),
    linkedSkills: Type.Optional(
      Type.Array(Type.String({ maxLength: 256 }), {
        maxItems: 256,
        description: 'Skills of the spec and of the workload itself.',
      }),
    ),
    configHash: Type.Optional(
      Type.String({ maxLength: 64, description: 'Hash of the configuration that was written on the pod template.' }),
    ),
    target: Type.Optional(
      Type.Object(
        {
          apiVersion: Type.String({ maxLength: 317, description: 'API version of the workload.' }),
          kind: Type.String({ maxLength: 63, description: 'Kind of the workload.' }),
          name: Type.String({ maxLength: 253, description: 'Name of the workload.' }),
          uid: Type.String({ maxLength: 128, description: 'Unique id of the workload.' }),
        },
        { description: 'The workload that carries the label now; it is given back when targetRef changes.' },
      ),
    ),
    identity: Type.Optional(
      Type.Object(
        {
          spiffeEnabled: Type.Optional(Type.Boolean({ description: 'Whether new pods are given a SPIFFE identity.' })),
          spiffeId: Type.Optional(Type.String({ maxLength: 2048, description: 'SPIFFE ID of the pods.' })),
          idpRegistered: Type.Optional(
            Type.Boolean({ description: 'Whether the workload is registered at the identity provider.' }),
          ),
          clientId: Type.Optional(
            Type.String({ maxLength: 2048, description: 'Client ID of the workload at the identity provider.' }),
          ),
        },
        { description: 'The identity of the pods, as far as it is known.' },
      ),
    ),
  },
  { description: 'What the operator found and did. Written by the operator alone.' },
);

export type AgentRuntimeSpec = Type.Static<typeof AgentRuntimeSpec>;
export type AgentRuntimeStatus = Type.Static<typeof AgentRuntimeStatus>;
export interface AgentRuntime extends KubeObject {
  readonly spec: AgentRuntimeSpec;
  readonly status?: AgentRuntimeStatus;
}

/** What the CRD says beside the schemas. */
export const agentRuntimeCrd = {
  plural: 'agentruntimes',
  singular: 'agentruntime',
  shortNames: ['art', 'agentrt'],
  categories: ['rossoctl'],
  columns: [
    { name: 'Type', type: 'string', jsonPath: '.spec.type' },
    { name: 'Target', type: 'string', jsonPath: '.spec.targetRef.name' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Pods', type: 'integer', jsonPath: '.status.configuredPods' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  /** By which lists can be narrowed, from Kubernetes 1.31 on. */
  selectableFields: ['.spec.targetRef.name'],
} as const;
