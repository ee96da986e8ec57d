/** Documents that stand for the cluster's state, with one field of a wrong type: exit 2 and a sentence that names document, object and field. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { parse } from 'yaml';
import { type Path, pathsOf, replaced, review } from './spoiled.ts';
import { configMap, deploymentYaml, inject, podYaml, r0Yaml, stream } from './run-cli.ts';

const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather-agent', uid: 'd1', controller: true };
const meta = { namespace: 'team1', uid: 'u1', labels: { a: 'b' }, annotations: { c: 'd' } };
const replicaSet = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { ...meta, name: 'weather-agent-7d9f8c6b5', ownerReferences: [owner] },
  spec: { replicas: 1 },
};
const job = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { ...meta, name: 'j', ownerReferences: [{ ...owner, apiVersion: 'batch/v1', kind: 'CronJob' }] },
  spec: { suspend: true, template: (parse(deploymentYaml) as { spec: { template: object } }).spec.template },
  status: { active: 0, startTime: '2026-01-01T00:00:00Z', conditions: [{ type: 'Complete', status: 'False' }] },
};

const references: readonly (readonly [what: string, ownerReferences: unknown, words: string])[] = [
  ['a map', {}, 'ownerReferences must be a list, not a map'],
  ['a number', 1, 'ownerReferences must be a list, not the number 1'],
  ['text', 'x', 'ownerReferences must be a list, not the string "x"'],
  ['a boolean', true, 'ownerReferences must be a list, not the boolean true'],
  ['a list of nothing', [null], 'ownerReferences[0] is missing'],
  ['a list of text', ['x'], 'ownerReferences[0] must be a map, not the string "x"'],
  [
    'an entry whose controller is text',
    [{ ...owner, controller: 'true' }],
    'ownerReferences[0].controller must be true or false, not the string "true"',
  ],
  ...(['apiVersion', 'kind', 'name', 'uid'] as const).flatMap((field): [string, unknown, string][] => [
    [`an entry without ${field}`, [{ ...owner, [field]: undefined }], `ownerReferences[0].${field} is missing`],
    [`an entry with ${field} null`, [{ ...owner, [field]: null }], `ownerReferences[0].${field} is missing`],
    [`an entry with ${field} empty`, [{ ...owner, [field]: '' }], `ownerReferences[0].${field} is empty`],
    [
      `an entry with ${field} a number`,
      [{ ...owner, [field]: 5 }],
      `ownerReferences[0].${field} must be a string, not the number 5; put it in quotes`,
    ],
    [
      `an entry with ${field} a map`,
      [{ ...owner, [field]: {} }],
      `ownerReferences[0].${field} must be a string, not a map`,
    ],
    [
      `an entry with ${field} a list`,
      [{ ...owner, [field]: [] }],
      `ownerReferences[0].${field} must be a string, not a list`,
    ],
  ]),
];
for (const [what, ownerReferences, words] of references) {
  for (const object of [replicaSet, job, parse(podYaml) as typeof job]) {
    test(`${object.kind}, ownerReferences: ${what}`, async () => {
      const spoiled = replaced(object, ['metadata', 'ownerReferences'], ownerReferences);
      const { code, out, err } = await inject(
        stream(...[podYaml, r0Yaml].filter(() => object.kind !== 'Pod'), `${JSON.stringify(spoiled)}\n`),
      );
      assert.deepEqual([code, out], [2, ''], err);
      assert.match(err, new RegExp(`document \\d \\(line \\d+\\): ${object.kind} team1/\\S+: metadata\\.`));
      assert.ok(err.endsWith(`: metadata.${words}\n`), err);
    });
  }
}

for (const object of [
  parse(r0Yaml),
  parse(configMap('team1', 'c', {})),
  parse(deploymentYaml),
  replicaSet,
] as (typeof job)[]) {
  for (const name of [undefined, null, '']) {
    test(`${object.kind} whose name is ${JSON.stringify(name)}`, async () => {
      const nameless = replaced(object, ['metadata', 'name'], name);
      const { code, err } = await inject(`${JSON.stringify(nameless)}\n---\n${podYaml}`);
      assert.equal(code, 2);
      assert.ok(err.endsWith(`: ${object.kind} team1/(no name): metadata.name is missing\n`), err);
    });
  }
}

const others: readonly (readonly [string, object, Path, unknown, string])[] = [
  [
    'a Namespace',
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team1' } },
    ['metadata', 'labels'],
    [],
    'Namespace team1: metadata.labels must be a map of strings, not a list',
  ],
  [
    'a Namespace without a name',
    { apiVersion: 'v1', kind: 'Namespace', metadata: {} },
    ['metadata', 'name'],
    {},
    'Namespace (no name): metadata.name must be a string, not a map',
  ],
  [
    'a ConfigMap',
    parse(configMap('team1', 'c', {})) as object,
    ['data', 'a'],
    {},
    'ConfigMap team1/c: data["a"] must be a string, not a map',
  ],
  [
    'a ConfigMap',
    parse(configMap('team1', 'c', {})) as object,
    ['data', 'a'],
    5,
    'ConfigMap team1/c: data["a"] must be a string, not the number 5; put it in quotes',
  ],
  [
    'an AgentRuntime',
    parse(r0Yaml) as object,
    ['metadata', 'uid'],
    ['x'],
    'AgentRuntime team1/weather: metadata.uid must be a string, not a list',
  ],
  [
    'a Deployment',
    parse(deploymentYaml) as object,
    ['spec', 'replicas'],
    'two',
    'Deployment team1/weather-agent: spec.replicas must be a whole number, not the string "two"',
  ],
  ['a Job', job, ['spec', 'suspend'], 'yes', 'Job team1/j: spec.suspend must be true or false, not the string "yes"'],
  ['a Job', job, ['status', 'active'], {}, 'Job team1/j: status.active must be a whole number, not a map'],
];
for (const [what, object, path, by, words] of others) {
  test(`${what}: ${path.join('.')} is ${JSON.stringify(by)}`, async () => {
    const { code, err } = await inject(`${JSON.stringify(replaced(object, path, by))}\n---\n${podYaml}`);
    assert.equal(code, 2, err);
    assert.ok(err.endsWith(`: ${words}\n`), err);
  });
}

test('a pod under review whose name is no text is named as one without', async () => {
  for (const field of ['name', 'generateName', 'namespace']) {
    for (const by of [{}, [], 5]) {
      const pod = replaced(parse(podYaml), ['metadata', field], by);
      const bare = replaced(review(pod), ['request', 'namespace'], field === 'namespace' ? '' : 'team1');
      const { code, err } = await inject(JSON.stringify(bare));
      assert.equal(code, 1, err);
      assert.match(
        err,
        /^AdmissionReview of Pod (team1|default)\/\S+( name\))?: denied \(InvalidPod\): the pod is malformed: metadata\./,
      );
      assert.doesNotMatch(err, /\[object/);
    }
  }
});

const systems: readonly (readonly [unknown, string])[] = [
  [{}, 'spec.os.name must be a string, not a map'],
  [['linux'], 'spec.os.name must be a string, not a list'],
  ['', 'spec.os.name is empty'],
  [null, 'spec.os.name is missing'],
  [5, 'spec.os.name must be a string, not the number 5; put it in quotes'],
];
for (const [name, words] of systems) {
  test(`a pod whose os.name is ${JSON.stringify(name)}`, async () => {
    const pod = JSON.stringify(replaced(parse(podYaml), ['spec', 'os'], { name }));
    const { code, err } = await inject(`${pod}\n---\n${r0Yaml}`);
    assert.equal(code, 2);
    assert.ok(err.endsWith(`: ${words}\n`), err);
  });
}

const injected = parse((await inject(stream(podYaml, r0Yaml))).out) as object;
const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team1', labels: { a: 'b' } } };
const platform = parse(
  configMap('rossoctl-system', 'rossoctl-platform-config', { 'config.yaml': 'mtls: {mode: permissive}\n' }),
) as object;
const runtime = parse(r0Yaml) as object;
const pod = parse(podYaml) as object;
const deployment = parse(deploymentYaml) as object;
const full = {
  ...deployment,
  status: { replicas: 1, conditions: [{ type: 'Available', status: 'True', message: 'm' }] },
};

/** What is spoiled, and the rest of the input. */
const inputs: readonly (readonly [string, object, readonly object[]])[] = [
  ['a ReplicaSet', replicaSet, [pod, runtime]],
  ['a Job', job, [runtime]],
  ['a Namespace', namespace, [pod, runtime, replicaSet]],
  ['a ConfigMap', platform, [pod, runtime, replicaSet]],
  ['an AgentRuntime', runtime, [pod, replicaSet]],
  ['a Deployment', full, [runtime]],
  ['a Pod', pod, [runtime, replicaSet]],
  ['an injected Pod', injected, [runtime, replicaSet]],
  ['a review', review(pod), [runtime, replicaSet]],
];
const wrong: readonly unknown[] = [null, '', 'x', 5, true, {}, [], [null], [{}], { a: {} }];
for (const [what, object, rest] of inputs) {
  test(`${what} with any one field spoiled: a sentence without internals`, async () => {
    for (const [at, path] of pathsOf(object).entries()) {
      // Three of the wrong values at each place, the next three at the next: all of them at each kind of place.
      for (const by of [0, 1, 2].map((turn) => wrong[(3 * at + turn) % wrong.length])) {
        const all = [replaced(object, path, by), ...rest].map((each) => JSON.stringify(each)).join('\n');
        const { code, err } = await inject(all, '--explain');
        const where = `${path.join('.')} = ${JSON.stringify(by)}: ${err}`;
        assert.ok([0, 1, 2].includes(code), where);
        assert.doesNotMatch(err, /internal error|\[object|undefined|NaN/, where);
        if (code === 2) assert.match(err, /^rossoctl: .+\n$/m, where);
      }
    }
  });
}
