/** The pages about the sidecar against its sources: every refusal with its words, every check, every example, and each test that a claim names. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { parse } from 'yaml';
import { AgentRuntimeSpec } from '../../../runtime/api/agent-runtime.ts';
import { violationsOf } from '../../../runtime/config/check.ts';
import { portExclusions } from '../../../runtime/config/port-exclusions.ts';
import { isProblem, parseConfig } from '../../../runtime/config/sources.ts';
import { failureOf, type FailureKind } from '../../../runtime/sidecar/capture/failure.ts';
import type { Refusal } from '../../../runtime/sidecar/decision.ts';
import { type InboundRefusal, inboundRefusal } from '../../../runtime/sidecar/inbound/refusals.ts';
import { type OutboundRefusal, outboundRefusal } from '../../../runtime/sidecar/outbound/refusals.ts';
import { containerOf, injectedPod } from '../authbridge/fixtures.ts';
import { namespaceSource } from '../config/layer-values.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const sidecar = read('docs/sidecar.md');
const security = read('docs/security.md');

/** The part under a heading, to the next one. */
function part(heading: string): string {
  const [, after = ''] = sidecar.split(`${heading}\n`);
  assert.notEqual(after, '', `no heading ${heading}`);
  return after.split(/^#/m)[0] ?? '';
}

const inbound = Object.keys({
  path: 0,
  'no-token': 0,
  scheme: 0,
  'malformed-header': 0,
  'too-large': 0,
  malformed: 0,
  algorithm: 0,
  type: 0,
  'key-unknown': 0,
  signature: 0,
  claims: 0,
  issuer: 0,
  expired: 0,
  'not-yet-valid': 0,
  'token-use': 0,
  bound: 0,
  audience: 0,
  'mtls-required': 0,
  'no-audience': 0,
  'identity-pending': 0,
  'keys-unavailable': 0,
} satisfies Record<InboundRefusal, 0>) as InboundRefusal[];

const outbound = Object.keys({
  authority: 0,
  'several-authorizations': 0,
  denied: 0,
  'no-token': 0,
  'no-route': 0,
  expired: 0,
  refused: 0,
  forbidden: 0,
  misconfigured: 0,
  unavailable: 0,
  itself: 0,
  loop: 0,
  'not-a-tunnel': 0,
  'mtls-unavailable': 0,
  unresolved: 0,
} satisfies Record<OutboundRefusal, 0>) as OutboundRefusal[];

const tables: readonly (readonly [heading: string, refusals: readonly Refusal[]])[] = [
  ['### A caller is refused (inbound)', inbound.map((reason) => inboundRefusal(reason, { realm: 'rossoctl' }))],
  ["### The agent's own call is refused (outbound)", outbound.map((reason) => outboundRefusal(reason))],
];
for (const [heading, refusals] of tables) {
  test(`${heading.slice(4)}: each refusal with its status, its error and its words`, () => {
    const rows = part(heading).split('\n');
    for (const { reason, status, error, description } of refusals) {
      const row = rows.find((each) => each.startsWith(`| \`${reason}\` |`)) ?? '';
      assert.ok(row.includes(`| ${status} \`${error}\``), `${reason}: ${row}`);
      // Where the page quotes words, they are the refusal's own.
      const quoted = /`: `([^`]+)`/.exec(row)?.[1];
      assert.ok(quoted === undefined || description.startsWith(quoted), `${reason}: ${quoted}`);
    }
  });
}

/** What iptables says, one of each kind. */
const failures: Readonly<Record<FailureKind, { readonly output: string; readonly fault?: string }>> = {
  'no-program': { output: '', fault: 'ENOENT' },
  'no-answer': { output: '', fault: 'ETIMEDOUT' },
  'no-capability': { output: 'Permission denied (you must be root)' },
  'lock-file': { output: "can't open lock file /run/xtables.lock: Read-only file system" },
  'lock-held': { output: 'Another app is currently holding the xtables lock' },
  'no-table': { output: "unable to initialize table 'nat'" },
  'no-backend': { output: 'Table does not exist (do you need to insmod?)' },
  'no-match': { output: "Couldn't load match `owner'" },
  other: { output: 'line 3 failed' },
};

test('each failure of proxy-init can be found by its words', () => {
  const words = [...part('### The pod does not start: proxy-init').matchAll(/^\| `([^`]+)`/gm)].map(
    ([, it = '']) => it,
  );
  for (const [kind, ended] of Object.entries(failures)) {
    const { kind: found, sentence } = failureOf('nft', { command: 'x', ...ended });
    assert.equal(found, kind);
    assert.ok(
      words.some((each) => sentence.includes(each)),
      sentence,
    );
  }
});

test('each check of readiness is told of, and each line that makes it not ready or degraded', () => {
  const sources = ['proxy', 'traffic', 'spiffe/helper'].map((file) => read(`runtime/sidecar/${file}.ts`)).join('\n');
  const checks = [...sources.matchAll(/health\.(?:ready|degraded)\('([a-z-]+)'/g)].map(([, name = '']) => name);
  assert.ok(checks.length >= 8);
  const told = part('### Not ready') + part('### Ready, but degraded');
  assert.deepEqual(
    checks.filter((name) => !told.includes(`\`${name}\``)),
    [],
  );
});

test('each metric that is named is one of the sidecar', () => {
  const reference = read('docs/reference/metrics.md');
  const named = [...new Set(sidecar.match(/rossoctl_sidecar_[a-z_]+/g))];
  assert.ok(named.length >= 7);
  assert.deepEqual(
    named.filter((name) => !reference.includes(`\`${name}\``)),
    [],
  );
});

const examples = [...sidecar.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(([, text = '']) => text);

test('every example is one that is taken', () => {
  assert.ok(examples.length >= 6);
  for (const text of examples) {
    const value = parse(text) as {
      readonly kind?: string;
      readonly spec?: unknown;
      readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
    };
    if (value.kind === 'AgentRuntime') {
      assert.deepEqual(violationsOf(AgentRuntimeSpec, value.spec), [], text);
    } else if (value.kind === 'Service') {
      const { ports = [] } = containerOf(injectedPod(), 'envoy-proxy');
      assert.ok(
        ports.some(({ name }) => text.includes(`targetPort: ${name} `)),
        text,
      );
    } else if (value.metadata?.annotations !== undefined) {
      const ports = portExclusions(value.metadata.annotations);
      assert.ok(ports.ok && ports.inbound.length > 0 && ports.outbound.length > 0, text);
    } else {
      const layer = parseConfig(text, namespaceSource);
      assert.ok(!isProblem(layer), isProblem(layer) ? layer.message : '');
    }
  }
});

/** A file of `test/`, and titles (or what they begin with, or rows) in it. */
const reference = /`([a-z-]+\/[\w./-]+\.ts)`((?:,?\s+\*[^*]+\*)+)/g;

/** The references of a page that name no test. */
function wrongReferences(page: string): { readonly wrong: readonly string[]; readonly count: number } {
  const named = [...page.replaceAll('**', '').matchAll(reference)].flatMap(([, file = '', titles = '']) =>
    [...titles.matchAll(/\*([^*]+)\*/g)].map(([, title = '']) => ({ file, title: title.replaceAll(/\s+/g, ' ') })),
  );
  const text = (file: string) => (existsSync(path.join(root, 'test', file)) ? read(`test/${file}`) : '');
  const wrong = named.filter(({ file, title }) => !text(file).includes(title));
  return { wrong: wrong.map(({ file, title }) => `${file}: ${title}`), count: named.length };
}

test('each claim about security names tests that are there', () => {
  const { wrong, count } = wrongReferences(security);
  assert.deepEqual(wrong, []);
  assert.ok(count > 60, `${count} references`);
});

test('each report has a test that is there, and all are told of', () => {
  const rows = read('docs/data-plane-reports.md')
    .split('\n')
    .filter((line) => /^\| [\w-]+\/[\w-]+#\d/.test(line));
  assert.equal(rows.length, 25);
  for (const row of rows) {
    const { wrong, count } = wrongReferences(row);
    assert.deepEqual(wrong, []);
    assert.ok(count > 0, row);
  }
});

test('no claim in a table is without a test, or without the word that it has none', () => {
  const claims = security.split('\n').filter((line) => /^\| [^-|]/.test(line) && !line.includes('| held by |'));
  assert.ok(claims.length > 40);
  assert.deepEqual(
    claims.filter((row) => !/\.ts` \*|no test yet|as a neighbour pod/.test(row)),
    [],
  );
});
