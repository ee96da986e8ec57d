/** AgentCard: schema, static types and the facts of its CustomResourceDefinition. */

import { Type } from 'typebox';
import { durationPattern } from '../encoding/duration.ts';
import type { KubeObject } from '../engine/types.ts';
import { TrustDomain } from './agent-runtime.ts';
import { Conditions, oneOf } from './schema.ts';
import { TargetRef } from './target-ref.ts';

export const bindingScopes = ['trustDomain', 'workload'] as const;
export type BindingScope = (typeof bindingScopes)[number];

/** What an AgentCard that does not say otherwise is treated as. Not in the schema: "unset" stays distinguishable. */
export const agentCardDefaults = Object.freeze({
  syncPeriodMs: 30_000,
  /** A shorter period is taken for this. */
  minSyncPeriodMs: 5_000,
  /** A longer one is taken for this: a verdict outlives the last answer by some periods, and nobody should trust a silent agent for weeks. */
  maxSyncPeriodMs: 86_400_000,
  scope: 'trustDomain',
  strict: true,
} as const);

export const IdentityBinding = Type.Object(
  {
    trustDomain: Type.Optional(TrustDomain),
    scope: Type.Optional(
      oneOf(bindingScopes, {
        description:
          'How much of the SPIFFE ID must agree: trustDomain (the default, unless the install says otherwise), or workload: the namespace and ServiceAccount too.',
      }),
    ),
    strict: Type.Optional(
      Type.Boolean({
        description: 'Whether a card whose identity does not agree is unverified (the default) or only reported.',
      }),
    ),
  },
  {
    description:
      'Which identity may sign the card. When absent, any identity of the platform’s trust domain, or as the install says.',
  },
);

export const AgentCardSpec = Type.Object(
  {
    targetRef: TargetRef,
    syncPeriod: Type.Optional(
      Type.String({
        minLength: 2,
        maxLength: 64,
        pattern: durationPattern,
        description: 'How often the card is fetched, for example 30s (the default) or 5m; from 5s to 24h.',
      }),
    ),
    identityBinding: Type.Optional(IdentityBinding),
  },
  { description: 'The workload whose card is fetched, how often, and whose signature counts.' },
);

const optionalText = (maxLength: number, description: string) => Type.Optional(Type.String({ maxLength, description }));

/** What was read from the card for people and columns; every member is of its type, whatever the card holds. */
export const AgentSummary = Type.Object(
  {
    name: optionalText(256, 'Name of the agent.'),
    version: optionalText(128, 'Version of the agent.'),
    url: optionalText(2048, 'Where the agent is called: its first interface, or url in older cards.'),
    transport: optionalText(256, 'Transport of that address, for example JSONRPC.'),
    protocolVersion: optionalText(64, 'Version of A2A that the card speaks.'),
    path: optionalText(256, 'Path at which the card was served.'),
  },
  { description: 'The agent in brief.' },
);

export const AgentCardStatus = Type.Object(
  {
    protocol: optionalText(63, 'Protocol of the agent, from the label protocol.rossoctl.io/<name> of its workload.'),
    agent: Type.Optional(AgentSummary),
    card: Type.Optional(
      Type.Unsafe<Readonly<Record<string, unknown>>>({
        type: 'object',
        'x-kubernetes-preserve-unknown-fields': true,
        // One value: replaced as a whole, and owned in one line however many members a card has.
        'x-kubernetes-map-type': 'atomic',
        description:
          'The card: as served, or, when signatures are verified, exactly what the signature covers. Absent when it is larger than 256 KiB.',
      }),
    ),
    cardHash: optionalText(64, 'SHA-256 of the canonical JSON (RFC 8785) of the card without its signatures.'),
    lastSyncTime: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'When the card was last fetched, to the hour while nothing changes.',
      }),
    ),
    observedGeneration: Type.Optional(
      Type.Integer({ format: 'int64', minimum: 0, description: 'Generation of the spec that this status is about.' }),
    ),
    verdictFor: optionalText(64, 'Part of the spec that condition Verified is about (target and binding), as a hash.'),
    targetRef: Type.Optional(TargetRef),
    conditions: Type.Optional(Conditions),
    validSignature: Type.Optional(
      Type.Boolean({ description: 'Whether a signature of the card is good and its certificate trusted.' }),
    ),
    signatureKeyId: optionalText(256, 'kid of that signature.'),
    signatureSpiffeId: optionalText(2048, 'SPIFFE ID of the certificate that signed.'),
    signatureAlgorithm: optionalText(16, 'Algorithm of that signature, for example ES256.'),
    signatureProfile: optionalText(16, 'Form of the payload that was signed: jcs, jcs-spec, jcs-clean or go-clean.'),
    signatureVerificationDetails: optionalText(1024, 'The verdict in a sentence.'),
    unsignedMembers: Type.Optional(
      Type.Array(Type.String({ maxLength: 1024 }), {
        maxItems: 64,
        description:
          'Members that were served but are not covered by the signature, as JSON pointers; they are not in card.',
      }),
    ),
    trustBundleHash: optionalText(64, 'SHA-256 of the trust bundle that the verdict rests on.'),
    bindingStatus: Type.Optional(
      Type.Object(
        {
          bound: Type.Boolean({ description: 'Whether the identity that signed is one that may.' }),
          reason: Type.String({ maxLength: 128, description: 'Why, in one word.' }),
          message: Type.String({ maxLength: 4096, description: 'Why, and what to do.' }),
        },
        { description: 'Whether the identity that signed is one that may.' },
      ),
    ),
    certificateExpires: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'When the first certificate of the signature’s chain ends, and the verdict with it.',
      }),
    ),
  },
  { description: 'What the operator found. Written by the operator alone.' },
);

export type IdentityBinding = Type.Static<typeof IdentityBinding>;
export type AgentSummary = Type.Static<typeof AgentSummary>;
export type AgentCardSpec = Type.Static<typeof AgentCardSpec>;
export type AgentCardStatus = Type.Static<typeof AgentCardStatus>;
export interface AgentCard extends KubeObject {
  readonly spec: AgentCardSpec;
  readonly status?: AgentCardStatus;
}

const condition = (type: string) => `.status.conditions[?(@.type=="${type}")].status`;

/** What the CRD says beside the schemas. */
export const agentCardCrd = {
  plural: 'agentcards',
  singular: 'agentcard',
  shortNames: ['card', 'cards'],
  categories: ['rossoctl'],
  columns: [
    { name: 'Protocol', type: 'string', jsonPath: '.status.protocol' },
    { name: 'Kind', type: 'string', jsonPath: '.spec.targetRef.kind' },
    { name: 'Target', type: 'string', jsonPath: '.spec.targetRef.name' },
    { name: 'Agent', type: 'string', jsonPath: '.status.agent.name' },
    { name: 'Verified', type: 'string', jsonPath: condition('Verified') },
    { name: 'Bound', type: 'string', jsonPath: condition('Bound') },
    { name: 'Synced', type: 'string', jsonPath: condition('Synced') },
    { name: 'LastSync', type: 'date', jsonPath: '.status.lastSyncTime' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  /** By which lists can be narrowed, from Kubernetes 1.31 on. */
  selectableFields: ['.spec.targetRef.name'],
} as const;
