/** What a kind says of its objects, held against the schema that the API server is given. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { AgentCardSpec, AgentCardStatus } from '../../../runtime/api/agent-card.ts';
import { AgentRuntimeSpec, AgentRuntimeStatus } from '../../../runtime/api/agent-runtime.ts';
import { kinds } from '../../../runtime/api/kinds.ts';

/** Names of the fields whose maps are replaced as a whole. */
function atomicMaps(schema: unknown, name = ''): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {}, items, 'x-kubernetes-map-type': type } = schema as Readonly<Record<string, unknown>>;
  const inner = Object.entries(properties as object).flatMap(([field, of]) => atomicMaps(of, field));
  return [...(type === 'atomic' ? [name] : []), ...inner, ...atomicMaps(items, name)];
}

test('the maps that are replaced as a whole are those of the schema', () => {
  const card = [AgentCardSpec, AgentCardStatus].flatMap((schema) => atomicMaps(schema));
  const runtime = [AgentRuntimeSpec, AgentRuntimeStatus].flatMap((schema) => atomicMaps(schema));
  assert.deepEqual(card, kinds.agentCard.atomic);
  assert.deepEqual(runtime, kinds.agentRuntime.atomic ?? []);
});
