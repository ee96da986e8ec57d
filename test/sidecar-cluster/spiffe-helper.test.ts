/** `spiffe-helper` in a pod on a real kubelet beside a real SPIRE: an application of another user reads the pod's identity, and sees it replaced. */

import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { canRunNode } from '../lab/up.ts';
import { eventually } from '../support/engine-bed.ts';
import { applyAll } from '../support/operator-platform.ts';
import { createNamespace, runtimeFor } from '../support/workload-objects.ts';
import { type SidecarBed, startSidecarBed } from './bed.ts';
import { deployment } from './objects.ts';

const skip = !canRunNode() && 'a node needs root on Linux';
const namespace = 'files';
/** By this group SPIRE knows the pods. */
const known = 20_001;
const folder = '/var/run/identity';

/** Reads the four files as one set, with their owners and modes. */
const reading = `
const { readFileSync, realpathSync, statSync } = require('node:fs');
const version = realpathSync('${folder}/..data');
const file = (name) => {
  const { uid, gid, mode } = statSync(version + '/' + name);
  return { uid, gid, mode: (mode & 0o777).toString(8), text: readFileSync(version + '/' + name, 'utf8') };
};
console.log(JSON.stringify({ chain: file('svid.pem'), key: file('svid_key.pem'), bundle: file('svid_bundle.pem') }));
`;

interface File {
  readonly uid: number;
  readonly gid: number;
  readonly mode: string;
  readonly text: string;
}

type Files = Readonly<Record<'chain' | 'key' | 'bundle', File>>;

/** The volume that the application declares itself, and with `fsGroup` a group that all of the pod is in. */
function reader(name: string, fsGroup: number | undefined) {
  const written = deployment({ namespace, name, program: ['-e', 'setInterval(() => {}, 1e9)'] });
  const { template } = written['spec'] as {
    readonly template: { readonly spec: { readonly containers: readonly object[] } };
  };
  const containers = template.spec.containers.map((container) => ({
    ...container,
    volumeMounts: [{ name: 'rossoctl-svid', mountPath: folder, readOnly: true }],
  }));
  const volumes = [{ name: 'rossoctl-svid', emptyDir: { medium: 'Memory' } }];
  const securityContext = { supplementalGroups: [known], ...(fsGroup === undefined ? {} : { fsGroup }) };
  const podSpec = { ...template.spec, containers, volumes, securityContext };
  return { ...written, spec: { ...(written['spec'] as object), template: { ...template, spec: podSpec } } };
}

describe('spiffe-helper in a pod', { skip, timeout: 600_000 }, () => {
  let bed: SidecarBed;

  before(async () => {
    bed = await startSidecarBed(namespace, { spire: { svidTtl: '40s' }, featureGates: { envoyProxy: false } });
    await bed.untilOperatorRuns();
    await createNamespace(bed.client, namespace);
    const [plain, grouped] = [reader('plain', undefined), reader('grouped', 2000)];
    await applyAll(bed.client, [plain, grouped, runtimeFor(plain), runtimeFor(grouped)]);
    await Promise.all([bed.untilInjected('plain'), bed.untilInjected('grouped')]);
  });
  after(() => bed?.stop());

  /** Once they are there. */
  async function writtenFilesOf(app: string): Promise<Files> {
    let files: Files | undefined;
    await eventually(async () => void (files = await filesOf(app)));
    return files ?? assert.fail('no files');
  }

  async function filesOf(app: string): Promise<Files> {
    const said = await bed.kubectl('exec', `deploy/${app}`, '-c', 'app', '--', '/usr/bin/node', '-e', reading);
    return JSON.parse(said) as Files;
  }

  test('without an entry the pod runs, and its folder is empty; with one the files come', async () => {
    await assert.rejects(filesOf('plain'), /ENOENT/);
    const id = await bed.spire.createPodEntry({ namespace, account: 'default', group: known });
    const files = await writtenFilesOf('plain');
    const leaf = new X509Certificate(files.chain.text);
    assert.equal(leaf.subjectAltName, `URI:${id}`);
    assert.ok(leaf.checkPrivateKey(createPrivateKey(files.key.text)));
    assert.ok(leaf.checkIssued(new X509Certificate(files.bundle.text)));
  });

  const owned: readonly (readonly [app: string, gid: number, keyMode: string])[] = [
    ['plain', 1337, '644'],
    ['grouped', 2000, '640'],
  ];
  for (const [app, gid, keyMode] of owned) {
    test(`the files are the helper's, and another user reads them: ${app}`, async () => {
      const files = await writtenFilesOf(app);
      const shown = Object.entries(files).map(([name, { uid, gid, mode }]) => [name, uid, gid, mode]);
      assert.deepEqual(shown, [
        ['chain', 1337, gid, '644'],
        ['key', 1337, gid, keyMode],
        ['bundle', 1337, gid, '644'],
      ]);
    });
  }

  test('the identity is replaced while the application runs', async () => {
    const serialOf = async () => new X509Certificate((await filesOf('plain')).chain.text).serialNumber;
    const first = await serialOf();
    await eventually(async () => assert.notEqual(await serialOf(), first));
    const [pod, ...more] = await bed.podsOf('plain');
    assert.equal(more.length, 0);
    const { containerStatuses = [] } = (pod?.status ?? {}) as {
      readonly containerStatuses?: readonly { readonly restartCount: number }[];
    };
    assert.deepEqual(
      containerStatuses.map(({ restartCount }) => restartCount),
      [0],
    );
  });
});
