/** The agent in brief, from a card of any A2A version: 0.1 to 1.0, schema and proto form, and cards that are several at once. */

import { plainText } from '../encoding/plain-text.ts';
import type { AgentSummary } from './agent-card.ts';

type Members = Readonly<Record<string, unknown>>;

/** Where and how an agent is called. */
interface Interface {
  readonly url: string;
  readonly transport: string | undefined;
  readonly protocolVersion: string | undefined;
}

/** What the schema of AgentCard's status allows, in code points. */
const lengths = { name: 256, version: 128, url: 2048, transport: 256, protocolVersion: 64 } as const;

/**
 * What the card says of itself, but for `path`, which it cannot know. The first of `supportedInterfaces` that has a URL wins over `url`,
 * which wins over `additionalInterfaces`. A member that is missing, of another type or empty is left out. URLs are not parsed: gRPC's may be
 * `host:port`. Never throws.
 */
export function agentSummary(card: object): AgentSummary {
  const members: Members = { ...card };
  const { url, transport, protocolVersion } = interfaceOf(members) ?? {};
  const spoken = protocolVersion ?? cardVersion(members);
  const found = { name: member(members, 'name'), version: member(members, 'version'), url, transport };
  return shown({ ...found, protocolVersion: spoken });
}

function interfaceOf(card: Members): Interface | undefined {
  const own = member(card, 'url');
  return (
    firstInterface(card['supportedInterfaces'] ?? card['supported_interfaces']) ??
    (own === undefined ? undefined : { url: own, transport: preferred(card), protocolVersion: undefined }) ??
    firstInterface(card['additionalInterfaces'] ?? card['additional_interfaces'])
  );
}

/** A2A 0.2.4: absent means JSONRPC; before, there was no other. */
function preferred(card: Members): string {
  return member(card, 'preferredTransport') ?? member(card, 'preferred_transport') ?? 'JSONRPC';
}

function firstInterface(list: unknown): Interface | undefined {
  if (!Array.isArray(list)) return undefined;
  for (const entry of list) {
    if (!isObject(entry)) continue;
    const url = member(entry, 'url');
    if (url === undefined) continue;
    return {
      url,
      transport: member(entry, 'protocolBinding') ?? member(entry, 'protocol_binding') ?? member(entry, 'transport'),
      protocolVersion: member(entry, 'protocolVersion') ?? member(entry, 'protocol_version'),
    };
  }
  return undefined;
}

/** Of the card as a whole; drafts of 1.0 had a list of them. */
function cardVersion(card: Members): string | undefined {
  const drafted = card['protocolVersions'] ?? card['protocol_versions'];
  const first: unknown = Array.isArray(drafted) ? drafted[0] : undefined;
  return (
    member(card, 'protocolVersion') ??
    member(card, 'protocol_version') ??
    (typeof first === 'string' && first !== '' ? first : undefined)
  );
}

function member(object: Members, name: string): string | undefined {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shown(found: { readonly [name in keyof typeof lengths]: string | undefined }): AgentSummary {
  const names = Object.keys(lengths) as (keyof typeof lengths)[];
  const texts = names.map((name) => [name, plainText(found[name] ?? '', lengths[name])] as const);
  return Object.fromEntries(texts.filter(([, text]) => text !== ''));
}
