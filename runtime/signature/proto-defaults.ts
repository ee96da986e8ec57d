/** A card without members that hold their default, by A2A 1.0 section 8.4.1 rule 1: those that the schema neither requires nor marks `optional`. */

import { isJsonObject, type Json, type JsonObject, setMember } from '../encoding/strict-json.ts';
import type { Omissions } from './omissions.ts';

/** What the schema says of a member, as far as the rule needs it. Members without a row are kept as they are. */
interface Field {
  /** Neither REQUIRED nor `optional`: left out when it holds its default. */
  readonly isImplicit?: true;
  /** Of which message it is, or its items, or the values of its map. */
  readonly message?: string;
  readonly holds?: 'one' | 'list' | 'map';
}

const scalar: Field = { isImplicit: true };
const one = (message: string): Field => ({ message, holds: 'one' });
/** A message that may be absent: its default is absence, so null stands for it and {} does not. */
const absent = (message: string): Field => ({ isImplicit: true, message, holds: 'one' });
const list = (message: string): Field => ({ message, holds: 'list' });
const implicitList = (message: string): Field => ({ isImplicit: true, message, holds: 'list' });
const implicitMap = (message: string): Field => ({ isImplicit: true, message, holds: 'map' });

/** The messages of the A2A 1.0 schema that a card is made of. */
const messages: Readonly<Record<string, Readonly<Record<string, Field>>>> = {
  AgentCard: {
    supportedInterfaces: list('AgentInterface'),
    provider: absent('AgentProvider'),
    capabilities: one('AgentCapabilities'),
    securitySchemes: implicitMap('SecurityScheme'),
    securityRequirements: implicitList('SecurityRequirement'),
    skills: list('AgentSkill'),
  },
  AgentInterface: { tenant: scalar },
  AgentProvider: {},
  AgentCapabilities: { extensions: implicitList('AgentExtension') },
  AgentExtension: { uri: scalar, description: scalar, required: scalar, params: absent('Struct') },
  AgentSkill: {
    examples: scalar,
    inputModes: scalar,
    outputModes: scalar,
    securityRequirements: implicitList('SecurityRequirement'),
  },
  SecurityRequirement: { schemes: implicitMap('StringList') },
  StringList: { list: scalar },
  SecurityScheme: {
    apiKeySecurityScheme: one('DescribedScheme'),
    httpAuthSecurityScheme: one('HttpAuthSecurityScheme'),
    oauth2SecurityScheme: one('OAuth2SecurityScheme'),
    openIdConnectSecurityScheme: one('DescribedScheme'),
    mtlsSecurityScheme: one('DescribedScheme'),
  },
  DescribedScheme: { description: scalar },
  HttpAuthSecurityScheme: { description: scalar, bearerFormat: scalar },
  OAuth2SecurityScheme: { description: scalar, flows: one('OAuthFlows'), oauth2MetadataUrl: scalar },
  OAuthFlows: {
    authorizationCode: one('AuthorizationCodeFlow'),
    clientCredentials: one('RefreshableFlow'),
    implicit: one('ImplicitFlow'),
    password: one('PasswordFlow'),
    deviceCode: one('RefreshableFlow'),
  },
  AuthorizationCodeFlow: { refreshUrl: scalar, pkceRequired: scalar },
  RefreshableFlow: { refreshUrl: scalar },
  ImplicitFlow: { authorizationUrl: scalar, refreshUrl: scalar, scopes: scalar },
  PasswordFlow: { tokenUrl: scalar, refreshUrl: scalar, scopes: scalar },
  /** Any JSON: nothing in it has a default. */
  Struct: {},
};

export function withoutDefaults(card: JsonObject, omissions: Omissions): JsonObject {
  return reduced(card, 'AgentCard', omissions);
}

function reduced(object: JsonObject, message: string, omissions: Omissions): JsonObject {
  const fields = messages[message] ?? {};
  const kept: Record<string, Json> = {};
  for (const [name, value] of Object.entries(object)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    omissions.enter(name);
    if (field === undefined) setMember(kept, name, value);
    else if (field.isImplicit === true && isDefault(value, field)) omissions.note(omissions.mark());
    else setMember(kept, name, inside(value, field, omissions));
    omissions.leave();
  }
  return kept;
}

function isDefault(value: Json, { holds }: Field): boolean {
  if (value === null) return true;
  if (typeof value === 'object') return holds !== 'one' && Object.keys(value).length === 0;
  return value === '' || value === false || value === 0;
}

function inside(value: Json, { message, holds }: Field, omissions: Omissions): Json {
  if (message === undefined) return value;
  const below = (step: string | number, child: Json): Json => {
    omissions.enter(step);
    const left = isJsonObject(child) ? reduced(child, message, omissions) : child;
    omissions.leave();
    return left;
  };
  if (holds === 'one') return isJsonObject(value) ? reduced(value, message, omissions) : value;
  if (Array.isArray(value))
    return holds === 'list' ? (value as readonly Json[]).map((item, at) => below(at, item)) : value;
  if (holds !== 'map' || !isJsonObject(value)) return value;
  const kept: Record<string, Json> = {};
  for (const [name, child] of Object.entries(value)) setMember(kept, name, below(name, child));
  return kept;
}
