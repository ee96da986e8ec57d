// Which lab is meant when none is named, and what is said when the named one does not exist.
import assert from 'node:assert/strict';
import test from 'node:test';
import { chosenLab, noSuchLab } from './chosen-lab.ts';

const chosen: readonly (readonly [asked: string | undefined, labs: readonly string[], lab: string])[] = [
  [undefined, [], 'default'],
  [undefined, ['demo'], 'demo'],
  [undefined, ['default', 'demo'], 'default'],
  ['other', ['demo'], 'other'],
  ['other', ['default', 'demo'], 'other'],
];
for (const [asked, labs, lab] of chosen) {
  test(`${asked ?? 'no name'} among ${labs.join(' and ') || 'no labs'} is ${lab}`, () => {
    assert.equal(chosenLab(asked, labs, 'status'), lab);
  });
}

test('no name among several is a question that lists them', () => {
  assert.throws(() => chosenLab(undefined, ['demo', 'mine'], 'down'), {
    name: 'LabError',
    message: 'Which lab? There are demo, mine. Name one, for example: npm run lab -- down --name demo',
  });
});

const missing: readonly (readonly [name: string, labs: readonly string[], says: string])[] = [
  ['default', [], 'There is no lab "default" and no other; start it with: npm run lab -- up'],
  ['mine', [], 'There is no lab "mine" and no other; start it with: npm run lab -- up --name mine'],
  [
    'default',
    ['demo'],
    'There is no lab "default". There is "demo". Name one, for example: npm run lab -- status --name demo',
  ],
  [
    'mine',
    ['demo', 'test'],
    'There is no lab "mine". There are demo, test. Name one, for example: npm run lab -- status --name demo',
  ],
];
for (const [name, labs, says] of missing) {
  test(`${name} does not exist beside ${labs.join(' and ') || 'nothing'}`, () => {
    assert.equal(noSuchLab(name, labs, 'status'), says);
  });
}
