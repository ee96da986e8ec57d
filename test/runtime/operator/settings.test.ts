/** Flags and environment of the operator: defaults, precedence, refusals that name what is wrong. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { options } from '../../../runtime/operator/options.ts';
import { parseSettings, settingsHelp, UsageError } from '../../../runtime/operator/settings.ts';

test('without flags and environment every option has its default', () => {
  const settings = parseSettings([], {});
  assert.equal(settings.namespace, 'rossoctl-system');
  assert.equal(settings.webhookPort, 9443);
  assert.equal(settings.leaderElect, true);
  assert.deepEqual(settings.namespaces, []);
  assert.notEqual(settings.podName, '');
  assert.ok(Object.isFrozen(settings));
});

test('RB-01 NAMESPACES2WATCH takes spaces, empty entries, duplicates and a trailing comma', () => {
  assert.deepEqual(parseSettings([], { NAMESPACES2WATCH: 'team1, team2,,team1,' }).namespaces, ['team1', 'team2']);
});

test('a flag wins over the environment, an empty variable counts as absent', () => {
  assert.equal(parseSettings(['--namespace=a'], { POD_NAMESPACE: 'b' }).namespace, 'a');
  assert.equal(parseSettings([], { POD_NAMESPACE: 'b' }).namespace, 'b');
  assert.equal(parseSettings([], { POD_NAMESPACE: '' }).namespace, 'rossoctl-system');
});

test('a value may follow its flag or stand behind an equals sign; a flag alone is true', () => {
  assert.equal(parseSettings(['--webhook-port', '1', '--health-port=2'], {}).webhookPort, 1);
  assert.equal(parseSettings(['--require-namespace-label', '--health-port=2'], {}).requireNamespaceLabel, true);
});

const refused: readonly (readonly [argv: readonly string[], env: Readonly<Record<string, string>>, words: RegExp])[] = [
  [['--webhook-prot=1'], {}, /unknown argument "--webhook-prot=1"/],
  [['--leader'], {}, /did you mean --leader-elect\?/],
  [['positional'], {}, /unknown argument "positional"/],
  [['--webhook-port=x'], {}, /--webhook-port: "x": a port from 0 to 65535/],
  [['--webhook-port=70000'], {}, /--webhook-port/],
  [['--leader-elect=maybe'], {}, /--leader-elect: "maybe": true or false/],
  [['--certificates=none'], {}, /self-managed, files/],
  [['--log-level=loud'], {}, /debug, info, warn, error/],
  [['--kube-api-qps=0'], {}, /a number above 0/],
  [['--instance=Blue', '--namespaces=a'], {}, /--instance: "Blue": at most 32 lower-case letters, digits and dashes/],
  [['--instance=blue'], {}, /--instance: "blue": .*set --namespaces A,B,… \(NAMESPACES2WATCH\)/],
  [[], { ROSSOCTL_MANIFESTS_RELEASE: 'latest' }, /ROSSOCTL_MANIFESTS_RELEASE: "latest": a release such as 0\.1\.0/],
  [
    [],
    { NAMESPACES2WATCH: 'Team_1' },
    /environment variable NAMESPACES2WATCH: "Team_1": "Team_1" is not a namespace name/,
  ],
];

for (const [argv, env, words] of refused) {
  test(`refused: ${argv.join(' ')}${JSON.stringify(env)}`, () => {
    assert.throws(
      () => parseSettings(argv, env),
      (error) => error instanceof UsageError && words.test(error.message),
    );
  });
}

const skewed: readonly (readonly [what: string, manifests: string, argv: readonly string[], words: RegExp])[] = [
  [
    'a flag that only newer ones know',
    '99.0.0',
    ['--from-the-future=1'],
    /unknown argument "--from-the-future=1".*this operator is of release .*, its manifests are of the newer 99\.0\.0: set the image to that of 99\.0\.0/,
  ],
  ['a value that only newer ones know', '99.0.0', ['--log-level=trace'], /--log-level: "trace": .*newer 99\.0\.0/],
  [
    'a flag that only older ones knew',
    '0.0.1',
    ['--gone'],
    /unknown argument "--gone".*older 0\.0\.1: apply the manifests of/,
  ],
];
for (const [what, manifests, argv, words] of skewed) {
  test(`UP-03 manifests of another release, and ${what}: the refusal names both releases and what to do`, () => {
    assert.throws(() => parseSettings(argv, { ROSSOCTL_MANIFESTS_RELEASE: manifests }), words);
    assert.throws(
      () => parseSettings(argv, {}),
      (error) => error instanceof UsageError && !error.message.includes('release'),
    );
  });
}

test('--help names every flag and variable', () => {
  const help = settingsHelp();
  for (const { flag, env } of Object.values(options) as readonly { readonly flag: string; readonly env?: string }[]) {
    assert.ok(help.includes(`--${flag} `), flag);
    if (env !== undefined) assert.ok(help.includes(env), env);
  }
});
