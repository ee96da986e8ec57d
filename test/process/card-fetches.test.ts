/** AC-04 over real sockets: what hangs, streams without end and answers garbage holds up nobody else. */

import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'node:test';
import { createContacts } from '../../runtime/agent-card/contacts.ts';
import type { Ask } from '../../runtime/agent-card/contact.ts';
import { createFetcher } from '../../runtime/agent-card/fetch.ts';
import { systemClock } from '../../runtime/engine/clock.ts';
import type { Reader } from '../../runtime/engine/types.ts';
import { type Answering, json, withoutEnd } from '../runtime/agent-card/agents.ts';
import { wanted } from '../runtime/agent-card/contacts-bed.ts';

const kinds = ['hang', 'flood', 'junk'] as const;
const few = Array.from({ length: 50 }, (_, i) => `${kinds[Math.floor(i / 5)] ?? 'fine'}-${i}`);
const fine = few.filter((uid) => uid.startsWith('fine'));

test('AC-04: over real sockets every healthy agent is asked three times, whatever 15 of 50 do', async (t) => {
  const counts = new Map<string, number>();
  const open = new Set<Socket>();
  const answers: Readonly<Record<string, Answering>> = {
    hang: () => {},
    flood: (response) => withoutEnd(response.writeHead(200), Buffer.alloc(65_536, '{')),
    junk: (response) => response.writeHead(200).end('<html>'),
    fine: json({ name: 'x'.repeat(1_000) }),
  };
  const server = createServer((request, response: ServerResponse) => {
    const host = request.headers.host ?? '';
    counts.set(host, (counts.get(host) ?? 0) + 1);
    response.on('error', () => {});
    answers[host.split('-')[0] ?? '']?.(response, request);
    if (fine.every((uid) => (counts.get(uid) ?? 0) >= 3)) onFed();
  });
  server.on('connection', (socket) => {
    open.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      open.delete(socket);
      if (open.size === 0) onQuiet();
    });
  });
  let onQuiet = (): void => {};
  let onFed = (): void => {};
  const fed = new Promise<void>((resolve) => (onFed = resolve));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const fetcher = createFetcher({ timeoutMs: 1_000, reach: () => ({ address: '127.0.0.1', port }) });
  let [asking, mostAsking] = [0, 0];
  const ask: Ask = async (...asked) => {
    mostAsking = Math.max(mostAsking, (asking += 1));
    const fetched = await fetcher(...asked);
    asking -= 1;
    return fetched;
  };
  const contacts = createContacts({ ask, time: systemClock, limit: 8, quickMs: 100 });
  const stop = contacts.source.start(() => {}, undefined as unknown as Reader);
  t.after(stop);
  for (const uid of few) contacts.keep(uid, { name: uid }, wanted(uid, { periodMs: 1_000 }));
  await fed;
  assert.ok(fine.every((uid) => contacts.of(uid)?.answeredAt !== undefined));
  const times = (uid: string): number => counts.get(uid) ?? 0;
  const least = Math.min(...fine.map(times));
  for (const uid of few.slice(0, 5)) assert.ok(times(uid) <= least, `${uid} ${times(uid)}, the others ${least}`);
  assert.ok(contacts.counts().bodyBytes <= fine.length * 1_100);
  // One that is given up in the quick lane takes a moment to end.
  assert.ok(mostAsking <= 2 * 8, `${mostAsking}`);
  const quiet = new Promise<void>((resolve) => (onQuiet = resolve));
  stop();
  if (open.size > 0) await quiet;
  assert.equal(contacts.counts().bodyBytes, 0);
});
