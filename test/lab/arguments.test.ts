// Which command each command line means, and which are refused.
import assert from 'node:assert/strict';
import test from 'node:test';
import { type LabCommand, parseArguments } from './arguments.ts';

const rows: readonly (readonly [string, LabCommand])[] = [
  ['', { verb: 'help' }],
  ['up --help', { verb: 'help' }],
  ['up', { verb: 'up', name: 'default', isControlPlaneOnly: false, context: undefined }],
  ['up --control-plane-only', { verb: 'up', name: 'default', isControlPlaneOnly: true, context: undefined }],
  ['--name a up --context=b', { verb: 'up', name: 'a', isControlPlaneOnly: false, context: 'b' }],
  ['down --name kubectl', { verb: 'down', name: 'kubectl' }],
  ['status --name=a', { verb: 'status', name: 'a' }],
  ['down', { verb: 'down', name: undefined }],
  ['load x.tar', { verb: 'load', name: undefined, archive: 'x.tar' }],
  ['kubectl get pods -A --help', { verb: 'kubectl', name: undefined, parameters: ['get', 'pods', '-A', '--help'] }],
  ['kubectl --name a logs x', { verb: 'kubectl', name: 'a', parameters: ['logs', 'x'] }],
  ['--name a kubectl get kubectl', { verb: 'kubectl', name: 'a', parameters: ['get', 'kubectl'] }],
  ['pulumi --name a up -s local', { verb: 'pulumi', name: 'a', parameters: ['up', '-s', 'local'] }],
  ['kubectl get pulumi', { verb: 'kubectl', name: undefined, parameters: ['get', 'pulumi'] }],
  ['build', { verb: 'build', target: 'cluster' }],
  ['build --spire', { verb: 'build', target: 'spire' }],
  ['build --pulumi', { verb: 'build', target: 'pulumi' }],
  ['build --keycloak', { verb: 'build', target: 'keycloak' }],
];

for (const [line, command] of rows) {
  test(`"${line}" is understood`, () => {
    assert.deepEqual(parseArguments(line === '' ? [] : line.split(' ')), command);
  });
}

const mistakes = [
  'start',
  'up now',
  'up --nam a',
  'up --name',
  'up --name A',
  'up --name ../x',
  'load',
  'down --context a',
  'up --spire',
  'down --pulumi',
];

for (const line of mistakes) {
  test(`"${line}" is refused`, () => {
    assert.equal(parseArguments(line.split(' ')).verb, 'mistake');
  });
}
