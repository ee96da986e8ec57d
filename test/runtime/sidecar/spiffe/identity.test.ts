import assert from 'node:assert/strict';
import { test } from 'node:test';
import { degradedLine, type Known, readyLine, stateAt } from '../../../../runtime/sidecar/spiffe/identity.ts';
import { isSvidRefusal, readX509Svid } from '../../../../runtime/sidecar/spiffe/svid.ts';
import { foreignRoot, id, leafOf, svidFields, svidResponse } from './answers.ts';

const end = '2027-01-01T00:00:00Z';
const read = readX509Svid(svidResponse([svidFields(leafOf({ notAfter: end }))]), undefined);
const svid = isSvidRefusal(read) ? assert.fail(read.detail) : read;
const begun = new Date('2026-06-01T00:00:00Z');
const came = new Date('2026-06-01T00:00:05Z');
const nothing: Known = { begun, svid: undefined, came: begun, fault: undefined };
const held: Known = { begun, svid, came, fault: undefined };
const cut = 'the SPIRE agent does not answer at /run/agent.sock: nothing listens on it';

interface Row {
  readonly what: string;
  readonly known: Known;
  readonly now: string;
  readonly kind: 'none' | 'held' | 'expired';
  readonly since: Date;
  readonly ready: string | undefined;
  readonly degraded: string | undefined;
}

const notYet = 'no SPIFFE identity yet: the SPIRE agent has not answered yet';
const rows: readonly Row[] = [
  {
    what: 'nothing heard yet',
    known: nothing,
    now: '2026-06-01T00:00:01Z',
    kind: 'none',
    since: begun,
    ready: notYet,
    degraded: notYet,
  },
  {
    what: 'nothing, and why',
    known: { ...nothing, fault: cut },
    now: '2026-06-01T00:00:01Z',
    kind: 'none',
    since: begun,
    ready: `no SPIFFE identity yet: ${cut}`,
    degraded: `no SPIFFE identity yet: ${cut}`,
  },
  {
    what: 'held',
    known: held,
    now: '2026-06-01T00:00:06Z',
    kind: 'held',
    since: came,
    ready: undefined,
    degraded: undefined,
  },
  {
    what: 'held without an agent',
    known: { ...held, fault: cut },
    now: '2026-06-01T00:00:06Z',
    kind: 'held',
    since: came,
    ready: undefined,
    degraded: `the SPIFFE identity ${id} is not kept up and ends at ${end}: ${cut}`,
  },
  {
    what: 'held to the last second',
    known: held,
    now: end,
    kind: 'held',
    since: came,
    ready: undefined,
    degraded: undefined,
  },
  {
    what: 'ended',
    known: { ...held, fault: cut },
    now: '2027-01-01T00:00:00.001Z',
    kind: 'expired',
    since: new Date(end),
    ready: `the SPIFFE identity ${id} ended at ${end}: ${cut}`,
    degraded: `the SPIFFE identity ${id} ended at ${end}: ${cut}`,
  },
  {
    what: 'ended in silence',
    known: held,
    now: '2027-01-01T00:00:01Z',
    kind: 'expired',
    since: new Date(end),
    ready: `the SPIFFE identity ${id} ended at ${end}: the SPIRE agent has given no newer one`,
    degraded: `the SPIFFE identity ${id} ended at ${end}: the SPIRE agent has given no newer one`,
  },
];
for (const { what, known, now, kind, since, ready, degraded } of rows) {
  test(`${what}: ${kind}`, () => {
    const state = stateAt(known, new Date(now));
    assert.deepEqual([state.kind, state.since, readyLine(state), degradedLine(state)], [kind, since, ready, degraded]);
  });
}

test('roots that were left out make the identity degraded, in one line', () => {
  const found = readX509Svid(
    svidResponse([svidFields()], {
      'spiffe://a.example': Buffer.from('x'),
      'spiffe://b.example': Buffer.alloc(0),
      'spiffe://c.example': foreignRoot.der,
    }),
    undefined,
  );
  const state = stateAt({ ...held, svid: isSvidRefusal(found) ? assert.fail(found.detail) : found }, came);
  assert.equal(readyLine(state), undefined);
  assert.match(degradedLine(state) ?? '', /^the bundle of a\.example is left out: .* \(and 1 more\)$/);
});
