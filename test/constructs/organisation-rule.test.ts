/** A rule of an organisation's own: where it holds, what it says, and that it is said once. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { ApiObject, App, Chart } from 'cdk8s';
import type { IConstruct } from 'constructs';
import { Agent, OrganisationRule, RequireDigest, RestrictedPods } from '../../constructs/index.ts';

/** The rule of docs/constructs.md. */
class RequireOwner extends OrganisationRule {
  protected violations(construct: IConstruct): readonly string[] {
    if (!(construct instanceof Agent)) return [];
    if (construct.workload.metadata.getLabel('owner') !== undefined) return [];
    return ['the agent has no owner: write labels: { owner: … }'];
  }
}

const image = 'example.test/a:1';
const missing = 'the agent has no owner: write labels: { owner: … }';

/** What synthesis says, a line a violation. */
function said(build: (app: App) => void): readonly string[] {
  const app = new App();
  build(app);
  try {
    app.synthYaml();
    return [];
  } catch (error) {
    return error instanceof Error ? error.message.split('\n  ').slice(1) : [String(error)];
  }
}

test('it is told with the construct that breaks it, and those that keep it are left alone', () => {
  const lines = said((app) => {
    const chart = new Chart(app, 'c');
    new Agent(chart, 'a', { image });
    new Agent(chart, 'b', { image, labels: { owner: 'team1' } });
    app.with(new RequireOwner());
  });
  assert.deepEqual(lines, [`[c/a] ${missing}`]);
});

test('what is added after it is told with the construct it was applied to and its own path', () => {
  const lines = said((app) => {
    const chart = new Chart(app, 'c').with(new RequireOwner());
    new Agent(chart, 'a', { image });
  });
  assert.deepEqual(lines, [`[c] c/a: ${missing}`]);
});

test('applied again, above and below, it says everything once', () => {
  const lines = said((app) => {
    const rule = new RequireOwner();
    const chart = new Chart(app, 'c').with(rule);
    const agent = new Agent(chart, 'a', { image });
    app.with(rule).with(rule);
    agent.with(rule);
  });
  assert.deepEqual(lines, [`[c/a] ${missing}`]);
});

test('beside it, in another chart, nothing is asked', () => {
  const lines = said((app) => {
    new Chart(app, 'strict').with(new RequireOwner());
    new Agent(new Chart(app, 'free'), 'a', { image });
  });
  assert.deepEqual(lines, []);
});

test('rules change no manifest', () => {
  const yaml = (...rules: readonly OrganisationRule[]) => {
    const app = new App();
    app.with(...rules);
    const chart = new Chart(app, 'c');
    const labels = { owner: 'team1' };
    new Agent(chart, 'a', { image: `example.test/a@sha256:${'a'.repeat(64)}`, labels });
    new ApiObject(chart, 'x', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } });
    return app.synthYaml();
  };
  assert.equal(yaml(new RequireOwner(), new RequireDigest(), new RestrictedPods()), yaml());
});
