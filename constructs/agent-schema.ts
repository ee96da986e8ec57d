/** What the props of an agent or a tool must look like, and what no schema can say of them. */

import { Type, type TSchema } from 'typebox';
import { oneOf, stringMap } from '../runtime/api/schema.ts';
import { violationsOf } from '../runtime/config/check.ts';
import { compiledDefaults, Image } from '../runtime/config/platform.ts';
import { shown } from '../runtime/config/problem.ts';
import type { Violation } from '../runtime/config/violation.ts';
import type { AgentProps } from './agent-props.ts';
import { agentSelector, type NamedAgentProps } from './agent-workload.ts';
import { keyViolations, labelKeys, variableNames } from './map-keys.ts';
import { ImagePullPolicy, NamespaceName, ObjectName, ServiceName, unsetImage } from './prop-schemas.ts';
import { propViolations } from './refusal.ts';
import { Resources, resourceViolations } from './resource-quantities.ts';

const optional = Type.Optional;
const Words = Type.Array(Type.String({ maxLength: 65536 }), { maxItems: 1024 });

/** A row a prop. */
export const AgentPropsSchema = Type.Object({
  name: ServiceName,
  image: Image,
  namespace: optional(NamespaceName),
  imagePullPolicy: optional(ImagePullPolicy),
  port: optional(Type.Integer({ minimum: 1, maximum: 65535 })),
  kind: optional(oneOf(['Deployment', 'StatefulSet'])),
  replicas: optional(Type.Integer({ minimum: 0, maximum: 10000 })),
  protocols: optional(
    Type.Array(
      Type.String({
        minLength: 1,
        maxLength: 63,
        pattern: '^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$',
        description: 'Name of a protocol, of letters, digits, dashes, dots and underscores, for example a2a.',
      }),
      { maxItems: 16 },
    ),
  ),
  command: optional(Words),
  args: optional(Words),
  env: optional(stringMap({ maxProperties: 1024, maxLength: 65536 })),
  envFromSecrets: optional(Type.Array(ObjectName, { maxItems: 64 })),
  resources: optional(Resources),
  healthPath: optional(
    Type.String({
      minLength: 1,
      maxLength: 1024,
      pattern: '^/\\S*$',
      description: 'Path of a URL, beginning with a slash and without blanks, for example /healthz.',
    }),
  ),
  user: optional(Type.Integer({ minimum: 0, maximum: 2147483647 })),
  writableRoot: optional(Type.Boolean()),
  serviceAccountName: optional(ObjectName),
  labels: optional(
    Type.Unsafe<Readonly<Record<string, string>>>({
      type: 'object',
      maxProperties: 64,
      additionalProperties: {
        type: 'string',
        maxLength: 63,
        pattern: '^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$',
        description: 'Value of a label, of letters, digits, dashes, dots and underscores, for example team1.',
      },
    }),
  ),
  /** Checked by the AgentRuntime itself. */
  runtime: optional(Type.Unsafe<unknown>({ type: 'object' })),
  /** Likewise, where it is a section. */
  card: optional(Type.Unsafe<unknown>({})),
} as const satisfies Readonly<Record<keyof AgentProps, TSchema>>);

/** A StatefulSet's pods carry its name with a hash of eleven more characters as a label. */
const longestStatefulSet = 52;

/** What the props are checked against besides themselves. */
export interface AgentContext {
  readonly type: 'agent' | 'tool';
  /** The name was given, and is not the construct's id. */
  readonly hasOwnName: boolean;
}

/** Everything that is wrong with props that already have their name. */
export function agentViolations(props: NamedAgentProps, { type, hasOwnName }: AgentContext): readonly Violation[] {
  const found = propViolations(AgentPropsSchema, props).map((violation) =>
    violation.path !== 'name' || hasOwnName
      ? violation
      : { ...violation, message: `the construct's id ${violation.message}; set name, or change the id` },
  );
  if (found.length > 0) return found;
  return [
    ...agentNameViolations(props),
    ...unsetImage(props.image),
    ...userViolations(props),
    ...labelViolations(props),
    ...keyViolations('labels', props.labels, labelKeys),
    ...keyViolations('env', props.env, variableNames),
    ...resourceViolations(props.resources),
    ...ownViolations(props),
    ...cardViolations(props, type),
  ];
}

/** Why nothing can be made under this name, of a Service's first. */
export function agentNameViolations({ name, kind }: Pick<NamedAgentProps, 'name' | 'kind'>): readonly Violation[] {
  const malformed = violationsOf(Type.Object({ name: ServiceName }), { name });
  if (malformed.length > 0 || kind !== 'StatefulSet' || name.length <= longestStatefulSet) return malformed;
  const message = `has ${name.length} characters; a StatefulSet's name has at most ${longestStatefulSet}, or its pods cannot be made`;
  return [{ path: 'name', message }];
}

function userViolations({ user }: NamedAgentProps): readonly Violation[] {
  const choose = 'choose another number, for example 1000';
  if (user === 0) return [{ path: 'user', message: `0 is root, as which no agent may run; ${choose}` }];
  if (user !== compiledDefaults.proxy.uid) return [];
  return [{ path: 'user', message: `${user} is the proxy's own user, whose traffic is not captured; ${choose}` }];
}

/** What the construct says itself below a section, and would pass over silently. */
function ownViolations(props: NamedAgentProps): readonly Violation[] {
  const target = 'is the workload that is made here; leave it out';
  const rows = [
    ['runtime', 'type', 'is what the construct says: use Agent for an agent, Tool for a tool'],
    ['runtime', 'target', target],
    ['card', 'target', target],
  ] as const;
  return rows
    .filter(([section, key]) => (props[section] as Readonly<Record<string, unknown>> | undefined)?.[key] !== undefined)
    .map(([section, key, message]) => ({ path: `${section}.${key}`, message }));
}

function cardViolations({ card = false, protocols }: NamedAgentProps, type: 'agent' | 'tool'): readonly Violation[] {
  const refused = (message: string) => [{ path: 'card', message }];
  const isSection = typeof card === 'object' && card !== null && !Array.isArray(card);
  if (typeof card !== 'boolean' && !isSection) {
    return refused(`${shown(card)} is not allowed; must be true, false, or a section such as { syncPeriod: '1m' }`);
  }
  if (card === false) return [];
  if (type === 'tool') return refused('is for agents: a tool is never asked for a card; leave it out, or use Agent');
  if (protocols?.length !== 0) return [];
  return refused('needs a protocol to be asked for by; name one in protocols, or leave that out for a2a');
}

function labelViolations(props: NamedAgentProps): readonly Violation[] {
  return Object.keys(agentSelector(props))
    .filter((key) => Object.hasOwn(props.labels ?? {}, key))
    .map((key) => ({
      path: `labels.${key}`,
      message: `is the agent's name, by which its pods are selected; remove it, or set name`,
    }));
}
