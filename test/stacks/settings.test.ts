/** Settings of an environment: what is read, and each refusal with file, line, path and remedy. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { environments, readPlatformFacts, readSettings } from '../../stacks/environments.ts';
import { buildApp } from '../../stacks/app.ts';
import { manifestsOf } from '../../stacks/tree.ts';
import { parseSettings, type PlatformLayer, type Settings } from '../../stacks/settings.ts';

const digest = `example.test/rossoctl@sha256:${'a'.repeat(64)}`;

function parse(text: string, image?: string): Settings {
  return parseSettings(text, 'stacks/Pulumi.test.yaml', { environment: 'test', image });
}
function platformOf(settings: Settings): PlatformLayer['platform'] {
  assert.ok('platform' in settings);
  return settings.platform;
}
const platform = (lines: string) => `config:\n  rossoctl:platform:\n${lines.replaceAll(/^/gm, '    ')}\n`;

test('there is one file an environment', () => {
  assert.deepEqual(environments(), ['demo', 'dev', 'dev-team1', 'local', 'production', 'staging']);
});

test('each environment is usable', () => {
  for (const environment of environments()) {
    const isProduction = environment === 'production';
    const settings = readSettings(environment, isProduction ? { image: digest } : {});
    assert.equal(settings.environment, environment);
    assert.ok(buildApp(settings, readPlatformFacts(settings)).charts.length > 0);
  }
});

test('the local image is the one that is built here', () => {
  const local = platformOf(readSettings('local'));
  assert.deepEqual([local.image, local.imagePullPolicy], ['lab.local/rossoctl:dev', 'IfNotPresent']);
});

test('what Pulumi keeps in the same file is left alone', () => {
  const text = `encryptionsalt: v1:abc\nconfig:\n  aws:region: a\n  aws:key:\n    secure: xyz\n  rossoctl:platform:\n    image: i\n`;
  assert.equal(platformOf(parse(text)).image, 'i');
});

test('the image of the caller wins', () => {
  assert.equal(platformOf(parse(platform('image: a'), 'b')).image, 'b');
});

const allPinned = Object.fromEntries(
  ['envoyProxy', 'proxyInit', 'sidecar'].map((name) => [name, `registry.example/injected@sha256:${'d'.repeat(64)}`]),
);
const refused: readonly (readonly [what: string, text: string, says: RegExp])[] = [
  [
    'nothing at all',
    '',
    /Pulumi\.test\.yaml: config\.rossoctl:platform\.image: is not set; write it here or give --image/,
  ],
  ['a list', '- a', /must be a section with config: rossoctl:platform/],
  ['text that is no YAML', 'config: [', /Pulumi\.test\.yaml: line 1/],
  ['an unknown top level', `confg:\n  a: b`, /line 1: confg: unknown key; did you mean config\?/],
  [
    'another key of ours',
    `config:\n  rossoctl:platfrom:\n    image: i`,
    /config\.rossoctl:platfrom: unknown key; did you mean rossoctl:platform\?/,
  ],
  ['a key without a project', `config:\n  platform:\n    image: i`, /config\.platform: unknown key/],
  [
    'the default provider’s context',
    `config:\n  kubernetes:context: kind\n  rossoctl:platform:\n    image: i`,
    /line 2: config\.kubernetes:context: is for Pulumi's default provider, .*: write rossoctl:cluster: \{ context: … \}/,
  ],
  [
    'its kubeconfig, encrypted',
    `config:\n  kubernetes:kubeconfig:\n    secure: abc\n  rossoctl:platform:\n    image: i`,
    /line [23]: config\.kubernetes:kubeconfig: [^;]*: write rossoctl:cluster: \{ kubeconfig: … \}/,
  ],
  [
    'anything else of that provider, beside agents too',
    `config:\n  kubernetes:namespace: a\n  rossoctl:agents:\n    platform: dev\n    namespace: a`,
    /config\.kubernetes:namespace: [^;]*: leave it out$/,
  ],
  [
    'an unknown setting',
    platform('image: i\nreplica: 2'),
    /line 4: config\.rossoctl:platform\.replica: unknown key; did you mean replicas\?/,
  ],
  [
    'text for a number',
    platform('image: i\nreplicas: "2"'),
    /replicas: 2 is a string; write 2 without quotes|replicas: "2" is a string/,
  ],
  [
    'an unknown mode',
    platform('image: i\nmode: namespace'),
    /mode: "namespace" is not allowed; must be one of cluster, namespaced/,
  ],
  [
    'an unknown configuration key',
    platform('image: i\nconfig:\n  mtls:\n    mod: strict'),
    /rossoctl:platform\.config\.mtls\.mod: unknown key; did you mean mode\?/,
  ],
  [
    'an unknown gate',
    platform('image: i\nfeatureGates:\n  injectTool: true'),
    /featureGates\.injectTool: unknown key; did you mean injectTools\?/,
  ],
  [
    'an unknown key in a namespace’s defaults',
    platform('image: i\nnamespaces:\n  - name: a\n    defaults:\n      mtl: {}'),
    /namespaces\[0\]\.defaults\.mtl: unknown key/,
  ],
  [
    'a secret',
    platform('image: i\nconfig:\n  identity:\n    realm:\n      secure: abc'),
    /Pulumi\.test\.yaml: line 6: config\.rossoctl:platform\.config\.identity\.realm: is a secret; [^;]*$/,
  ],
  [
    'a secret beside it',
    platform('image:\n  secure: abc'),
    /Pulumi\.test\.yaml: line 3: config\.rossoctl:platform\.image: is a secret; manifests only name Secrets: [^;]*$/,
  ],
  [
    'text for the layer',
    'config:\n  rossoctl:platform: hello',
    /line 2: config\.rossoctl:platform: "hello" is a string; must be a section with /,
  ],
  [
    'a name that is none',
    platform('image: i\nserviceAccountName: \'a" || true || "\''),
    /line 4: config\.rossoctl:platform\.serviceAccountName: .* is not allowed; must .*Name of an object/,
  ],
  [
    'a namespace that is none',
    platform('image: i\nnamespace: a.b'),
    /rossoctl:platform\.namespace: "a\.b" is not allowed/,
  ],
  [
    'a Deployment that is none',
    platform('image: i\ndeploymentName: A'),
    /platform\.deploymentName: "A" is not allowed/,
  ],
  ['an image with a blank', platform('image: a b'), /platform\.image: "a b" is not allowed; .*without blanks/],
  ['no requests', platform('image: i\napiRequests:\n  qps: 0'), /apiRequests\.qps: 0 is not allowed/],
  ['no replica', platform('image: i\nreplicas: 0'), /replicas: 0 is not allowed; must be a whole number from 1 to 100/],
  [
    'a namespace listed twice',
    platform('image: i\nnamespaces:\n  - name: team1\n  - name: team1'),
    /line 6: config\.rossoctl:platform\.namespaces\[1\]\.name: team1 is already listed as namespaces\[0\]: merge the two/,
  ],
  [
    'the operator’s namespace among those of agents',
    platform('image: i\nnamespaces:\n  - name: rossoctl-system'),
    /line 5: config\.rossoctl:platform\.namespaces\[0\]\.name: rossoctl-system is the operator's own namespace, .*create: false/,
  ],
  [
    'defaults for the operator’s namespace',
    platform('image: i\nnamespace: op\nnamespaces:\n  - name: op\n    create: false\n    defaults: {}'),
    /namespaces\[0\]\.name: op is the operator's own namespace, where no pod is ever injected: leave it out/,
  ],
  [
    'watching the operator’s namespace',
    platform('image: i\nmode: namespaced\nnamespaces:\n  - name: rossoctl-system\n    create: false'),
    /namespaces\[0\]\.name: rossoctl-system is the operator's own namespace, where no pod is ever injected/,
  ],
  [
    'a namespace of Kubernetes',
    platform('image: i\nnamespaces:\n  - name: kube-system'),
    /namespaces\[0\]\.name: kube-system is Kubernetes' own namespace/,
  ],
  [
    'namespaced mode without a namespace',
    platform('image: i\nmode: namespaced'),
    /rossoctl:platform\.namespaces: is empty, but mode is namespaced: list the namespaces to watch/,
  ],
  [
    'a network that follows verdicts which nobody gives',
    platform('image: i\nnetworkPolicies:\n  enforce: true'),
    /line 5: config\.rossoctl:platform\.networkPolicies\.enforce: needs verified signatures/,
  ],
  [
    'strict mutual TLS where nobody has an identity',
    platform('image: i\nconfig:\n  mtls:\n    mode: strict\nfeatureGates:\n  spiffeHelper: false'),
    /line 6: config\.rossoctl:platform\.config\.mtls\.mode: strict needs an identity, .*: set spiffeHelper: true, or mtls\.mode: permissive/,
  ],
  [
    'the same in one namespace',
    platform(
      'image: i\nnamespaces:\n  - name: a\n    defaults:\n      mtls:\n        mode: strict\nfeatureGates:\n  spiffeHelper: false',
    ),
    /line 8: config\.rossoctl:platform\.namespaces\[0\]\.defaults\.mtls\.mode: strict needs an identity/,
  ],
  [
    'a tag where a digest is required',
    platform(`image: a:1\nrequireImageDigest: true\nconfig: ${JSON.stringify({ images: allPinned })}`),
    /"a:1" is not pinned by digest, which this environment requires; use a@sha256/,
  ],
];
test('refused where a digest is required: every injected image with a tag, and the built-in ones', () => {
  const pinning = (images: object) =>
    parse(platform(`image: ${digest}\nrequireImageDigest: true\nconfig: ${JSON.stringify({ images })}`));
  assert.doesNotThrow(() => pinning(allPinned));
  const { proxyInit: _, ...others } = allPinned;
  assert.throws(() => pinning({ ...others, sidecar: 'registry.example:5000/sidecar:1' }), {
    code: 'Settings',
    message:
      /config\.rossoctl:platform\.config\.images\.proxyInit: is not set, and the built-in "ghcr\.io\/rossoctl\/rossoctl-sidecar:[^"]+" is not pinned by digest, which this environment requires; use ghcr\.io\/rossoctl\/rossoctl-sidecar@sha256:<64 hex digits>; line 5: config\.rossoctl:platform\.config\.images\.sidecar: "registry\.example:5000\/sidecar:1" is not pinned by digest, which this environment requires; use registry\.example:5000\/sidecar@sha256:<64 hex digits>/,
  });
});

for (const [what, text, says] of refused) {
  test(`refused: ${what}`, () => {
    assert.throws(() => parse(text), { code: 'Settings', message: says });
  });
}

test('strict mutual TLS is fine where no proxy is injected either', () => {
  for (const gate of ['globalEnabled', 'envoyProxy']) {
    const gates = `featureGates:\n  spiffeHelper: false\n  ${gate}: false`;
    assert.doesNotThrow(() => parse(platform(`image: i\nconfig:\n  mtls:\n    mode: strict\n${gates}`)));
  }
});

test('refused: an image of the caller’s that is none', () => {
  assert.throws(() => parse(platform('image: i'), 'a b'), /platform\.image: "a b" is not allowed; .*without blanks/);
});

test('the operator’s namespace may be named where nothing is asked of it', () => {
  const read = platformOf(parse(platform('image: i\nnamespaces:\n  - name: rossoctl-system\n    create: false')));
  assert.equal(read.namespaces?.length, 1);
});

test('what only the whole app shows is refused with the file too', () => {
  const app = buildApp(parse(platform('image: i\nconfig:\n  proxy:\n    outboundPort: 9901\n    inboundPort: 9901')));
  assert.throws(
    () => manifestsOf(app),
    /^Error: stacks\/Pulumi\.test\.yaml: Validation failed with the following errors:\n {2}\[platform\/rossoctl\/config\] .*proxy\.outboundPort: 9901 is also/,
  );
});

test('refused: an environment there is not', () => {
  assert.throws(() => readSettings('prodution'), /no environment "prodution": did you mean production\?/);
  assert.throws(() => readSettings('../local'), /no environment "\.\.\/local"/);
});

test('refused: production without a digest', () => {
  assert.throws(
    () => readSettings('production'),
    /Pulumi\.production\.yaml: .*image: is not set; .*--image registry\/rossoctl@sha256/,
  );
  assert.throws(() => readSettings('production', { image: 'rossoctl:1' }), /not pinned by digest/);
});
