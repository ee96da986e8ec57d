/** A refusal speaks to people: each text with a pattern is described, with an example, and the pattern is in no sentence. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { AgentPlatformSchema } from '../../constructs/agent-platform-schema.ts';
import { AgentPropsSchema } from '../../constructs/agent-schema.ts';
import { AgentCardSpec } from '../../runtime/api/agent-card.ts';
import { AgentRuntimeSpec } from '../../runtime/api/agent-runtime.ts';
import { violationsOf } from '../../runtime/config/check.ts';
import { PlatformConfig } from '../../runtime/config/platform.ts';
import { PlatformSettings } from '../../stacks/settings-schema.ts';

interface Node {
  readonly pattern?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: Node;
  readonly items?: Node;
}

interface Row {
  readonly path: string;
  readonly pattern: string;
  readonly description: string | undefined;
  /** A document of the schema with this value alone. */
  readonly holding: (value: unknown) => unknown;
}

function rowsOf(node: Node, path: string, holding: (value: unknown) => unknown): readonly Row[] {
  const { pattern, description, properties = {}, additionalProperties, items } = node;
  return [
    ...(pattern === undefined ? [] : [{ path, pattern, description, holding }]),
    ...Object.entries(properties).flatMap(([name, below]) =>
      rowsOf(below, `${path}.${name}`, (value) => holding({ [name]: value })),
    ),
    ...(additionalProperties === undefined
      ? []
      : rowsOf(additionalProperties, `${path}.*`, (value) => holding({ key: value }))),
    ...(items === undefined ? [] : rowsOf(items, `${path}[]`, (value) => holding([value]))),
  ];
}

const schemas = {
  AgentRuntimeSpec,
  AgentCardSpec,
  PlatformConfig,
  AgentPlatformSchema,
  AgentPropsSchema,
  PlatformSettings,
};
for (const [name, schema] of Object.entries(schemas)) {
  const rows = rowsOf(schema as Node, name, (value) => value);
  test(`${name} has texts with patterns`, () => assert.ok(rows.length > 0));
  for (const { path, pattern, description = '', holding } of rows) {
    test(`${path} is described with an example, and refused in those words`, () => {
      assert.match(description, /for example \S/);
      const [refusal] = violationsOf(schema, holding('\u0001 \u0001'));
      const message = refusal?.message ?? assert.fail('not refused');
      assert.ok(message.includes(description.replace(/\.$/, '')), message);
      assert.ok(!message.includes(pattern), message);
    });
  }
}
