/** The rewriting of generated imports: enums and value imports go, the API stays. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { erasableImport } from '../../scripts/erasable-import.ts';

const head =
  "import { ApiObject, ApiObjectMetadata, GroupVersionKind } from 'cdk8s';\nimport { Construct } from 'constructs';\n";

test('an enum becomes constants and a union of their values', () => {
  const made = erasableImport(`${head}export enum Mode {\n  /** a */\n  A_B = "a-b",\n  C = "c",\n}\n`);
  assert.equal(
    made,
    [
      "import { ApiObject, type ApiObjectMetadata, type GroupVersionKind } from 'cdk8s';",
      "import type { Construct } from 'constructs';",
      'export const Mode = {',
      '  /** a */',
      '  A_B: "a-b",',
      '  C: "c",',
      '} as const;',
      'export type Mode = (typeof Mode)[keyof typeof Mode];',
      '',
    ].join('\n'),
  );
});

test('a generator that changed its output is noticed', () => {
  assert.throws(() => erasableImport('import * as cdk8s from "cdk8s";'), /adapt the rewriting/);
  assert.throws(() => erasableImport(`${head}export enum Odd { A }`), /still has an enum/);
});
