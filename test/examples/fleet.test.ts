/** The fleet, run as its README says: fifty agents, what a row changes, and what is said of rows that are wrong. */

import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { fleetApp } from '../../examples/fleet/fleet.ts';
import { assertGolden } from '../constructs/golden.ts';
import { documentedCommands, placeExamples, runIn } from './documented.ts';

const work = mkdtempSync(path.join(tmpdir(), 'rossoctl-fleet-'));
after(() => rmSync(work, { recursive: true, force: true }));
placeExamples(work);

const header = 'namespace,name,image,model,skills,replicas,port,memory';
const row = (name: string) => `sales,${name},registry.example/a:1,,lead,,,`;

test('the documented command writes fifty agents in five namespaces, and a second time nothing', () => {
  const [command = ''] = documentedCommands('fleet');
  const { status, stdout, stderr } = runIn(work, command);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^dist\/fleet: (\d+) files \(\1 changed, 0 removed\)\n$/);
  const files = globSync('**/*.yaml', { cwd: path.join(work, 'dist/fleet') });
  const countOf = (kind: string) => files.filter((file) => path.basename(file).startsWith(`${kind}-`)).length;
  const kinds = ['agentruntime', 'deployment', 'service', 'serviceaccount', 'namespace', 'configmap'];
  assert.deepEqual(kinds.map(countOf), [50, 50, 50, 50, 5, 2]);
  const read = (agent: string) =>
    readFileSync(path.join(work, `dist/fleet/80-workloads/${agent.replace('/', '/deployment-')}.yaml`), 'utf8');
  assertGolden('example-fleet.yaml', `${read('support/refunds')}---\n${read('operations/incidents')}`);
  assert.match(runIn(work, command).stdout, /\(0 changed, 0 removed\)/);
});

test('a row that is gone takes its files with it, whatever the order of the others and of the columns', () => {
  const table = (...lines: readonly string[]) => writeFileSync(path.join(work, 'table.csv'), lines.join('\n'));
  const run = () => runIn(work, 'node examples/fleet/main.ts dist/small table.csv').stdout;
  table(header, row('a'), row('b'));
  run();
  table(header.split(',').toReversed().join(','), row('b').split(',').toReversed().join(','));
  // Three lists of files name what is left.
  assert.match(run(), /\(3 changed, 4 removed\)/);
});

const wrong: readonly (readonly [title: string, lines: readonly string[], says: readonly RegExp[]])[] = [
  [
    'an unknown column',
    [`${header},color`],
    [/^t\.csv: line 1: unknown column "color"; the columns are namespace, name/],
  ],
  ['a missing column', ['namespace,name'], [/^t\.csv: line 1: no column image, no column model/]],
  ['a column twice', [`${header},port`], [/^t\.csv: line 1: column port is there twice/]],
  ['a short row', [header, '', 'sales,a'], [/^t\.csv: line 3: 2 cells for 8 columns: write a comma/]],
  [
    'a quote, closed or not',
    [header, 'sales,a,registry.example/a:1,,"lead, close,,,'],
    [/^t\.csv: line 2: a quote \("\) in sales,a,.*: remove it; cells have no quotes, so none can hold a comma$/],
  ],
  ['the same agent twice', [header, row('a'), row('b'), row('a')], [/^t\.csv:4: sales\/a is on line 2 already/]],
  [
    'several rows, all of them told',
    [header, row('A'), row('b'), 'kube-system,c,registry.example/a:1,,,,,', 'sales,d,registry.example/a:1,,,two,,'],
    [
      /^t\.csv:2: \[agents\/sales\.A\] name: "A" is not allowed/,
      /^t\.csv:4: .*namespace: kube-system is Kubernetes' own/,
      /^t\.csv:5: replicas: "two" is no number; write one, or nothing for 1$/,
    ],
  ],
];
for (const [title, lines, says] of wrong) {
  test(`refused: ${title}`, () => {
    assert.throws(
      () => fleetApp(lines.join('\n'), 't.csv'),
      ({ message }: Error) => {
        const told = message.split('\n');
        assert.equal(told.length, says.length, message);
        for (const [at, pattern] of says.entries()) assert.match(told[at] ?? '', pattern);
        return true;
      },
    );
  });
}

test('a table that is refused writes nothing and says so without a stack', () => {
  writeFileSync(path.join(work, 'bad.csv'), [header, row('A')].join('\n'));
  const { status, stdout, stderr } = runIn(work, 'node examples/fleet/main.ts dist/bad bad.csv');
  assert.deepEqual([status, stdout, stderr.split('\n').length], [1, '', 2]);
  assert.match(stderr, /^bad\.csv:2: /);
  assert.deepEqual(globSync('dist/bad', { cwd: work }), []);
});

test('a table that is not there is named, with how to name another', () => {
  const { status, stdout, stderr } = runIn(work, 'node examples/fleet/main.ts dist/none none.csv');
  assert.deepEqual([status, stdout], [1, '']);
  assert.match(
    stderr,
    /^none\.csv: the table cannot be read \(ENOENT\): node main\.ts DIR TABLE takes it as the second argument\n$/,
  );
});

test('four times the rows take about four times the work', () => {
  const text = (count: number) => [header, ...Array.from({ length: count }, (_, i) => row(`agent-${i}`))].join('\n');
  const workOf = (count: number) => {
    const began = process.cpuUsage();
    fleetApp(text(count), 't.csv');
    return process.cpuUsage(began).user;
  };
  const leastOf = (count: number) => Math.min(...Array.from({ length: 3 }, () => workOf(count)));
  leastOf(250);
  const [few, many] = [leastOf(250), leastOf(1000)];
  assert.ok(many < 10 * few, `${few} µs for 250 rows, ${many} µs for 1000`);
});
