import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logLine } from '../../../../runtime/sidecar/envoy/output.ts';

const cases: readonly (readonly [string, ReturnType<typeof logLine>])[] = [
  ['warning config no listener here', { level: 'warn', component: 'config', message: 'no listener here' }],
  ['critical main out of memory', { level: 'error', component: 'main', message: 'out of memory' }],
  ['info main a', { level: 'info', component: 'main', message: 'a' }],
  ['trace http x', { level: 'debug', component: 'http', message: 'x' }],
  ['Segmentation fault', { level: 'error', component: '', message: 'Segmentation fault' }],
  ['error', { level: 'error', component: '', message: 'error' }],
];
for (const [text, line] of cases) {
  test(`a line of Envoy: ${text}`, () => assert.deepEqual(logLine(text), line));
}
