/** Hosts are looked up by the pod's files as they were, and by real DNS. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { openFinder } from '../../../../runtime/sidecar/outbound/find.ts';

function files(t: test.TestContext, hosts: string) {
  const folder = mkdtempSync(path.join(tmpdir(), 'names-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const paths = { hosts: path.join(folder, 'hosts'), resolv: path.join(folder, 'resolv.conf') };
  writeFileSync(paths.hosts, hosts);
  // Nobody answers there: a port of this machine's loopback network that is closed.
  writeFileSync(paths.resolv, 'nameserver 127.0.0.99\n');
  return paths;
}

test('what is written into the files later changes nothing', async (t) => {
  const paths = files(t, '10.1.0.4 tool\n');
  const find = await openFinder({ paths });
  writeFileSync(paths.hosts, '203.0.113.66 tool other\n');
  assert.deepEqual(await find('tool'), ['10.1.0.4']);
  await assert.rejects(find('other'));
});

test('files that are not there are empty, and a server that does not answer is told', async (t) => {
  const paths = files(t, '');
  const find = await openFinder({ paths: { ...paths, hosts: path.join(path.dirname(paths.hosts), 'none') } });
  await assert.rejects(find('tool'), /ECONNREFUSED|ETIMEOUT|ESERVFAIL/);
});

test('a server that says nothing is waited for no longer for many names than for one', async (t) => {
  const paths = files(t, '');
  writeFileSync(paths.resolv, 'search a.test b.test c.test\n');
  const asked: string[] = [];
  const silence = (name: string) => {
    asked.push(name);
    return new Promise<never>(() => undefined);
  };
  const find = await openFinder({ paths, withinMs: 50, resolver: { resolve4: silence, resolve6: silence } });
  // A signal's timer alone does not keep Node waiting.
  const alive = setTimeout(() => undefined, 10_000);
  await assert.rejects(find('tool'), { code: 'ETIMEOUT', message: 'tool was not looked up within 0.05 s' });
  clearTimeout(alive);
  assert.deepEqual(asked, ['tool.a.test', 'tool.a.test']);
});
