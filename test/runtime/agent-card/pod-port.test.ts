/** Where a Service's port leads on one pod, and what a pod declares: as Kubernetes' own FindPort sees it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { declaredPortOf, targetPortOf } from '../../../runtime/agent-card/pod-port.ts';
import type { Container } from '../../../runtime/api/kubernetes.ts';
import { pod } from './endpoint-fixtures.ts';

interface Row {
  readonly what: string;
  readonly ports?: Container['ports'];
  readonly sidecar?: Container['ports'];
  readonly init?: Container['ports'];
  /** Default `cards`. */
  readonly targetPort?: number | string;
  readonly leadsTo: number | undefined;
  readonly declares: number | undefined;
}

const cards = (containerPort: number, protocol?: string) => [
  { name: 'cards', containerPort, ...(protocol === undefined ? {} : { protocol }) },
];

const rows: readonly Row[] = [
  { what: 'a container’s port of that name', ports: cards(8123), leadsTo: 8123, declares: 8123 },
  {
    what: 'of two of that name the one of TCP',
    ports: [...cards(1, 'UDP'), ...cards(8123, 'TCP')],
    leadsTo: 8123,
    declares: 8123,
  },
  {
    what: 'a native sidecar’s port of that name, which is no guess where no Service says it',
    ports: [{ containerPort: 8080 }],
    sidecar: cards(8123),
    leadsTo: 8123,
    declares: 8080,
  },
  {
    what: 'a container’s before a sidecar’s',
    ports: cards(8080),
    sidecar: cards(8123),
    leadsTo: 8080,
    declares: 8080,
  },
  { what: 'not one of an init container that ends', init: cards(8123), leadsTo: undefined, declares: undefined },
  { what: 'a name that none has', ports: [{ containerPort: 8080 }], leadsTo: undefined, declares: 8080 },
  { what: 'a number, declared or not', targetPort: 9999, leadsTo: 9999, declares: undefined },
  { what: 'no targetPort, which is the Service’s own number', targetPort: 0, leadsTo: 80, declares: undefined },
];

for (const { what, ports = [], sidecar, init, targetPort = 'cards', leadsTo, declares } of rows)
  test(`a Service’s port leads to ${what}`, () => {
    const one = pod('weather-1', ['10.1.0.1'], {
      ports,
      initContainers: [
        ...(init === undefined ? [] : [{ name: 'first', ports: init }]),
        ...(sidecar === undefined ? [] : [{ name: 'side', restartPolicy: 'Always' as const, ports: sidecar }]),
      ],
    });
    assert.equal(targetPortOf(one, { number: 80, targetPort }), leadsTo);
    assert.equal(declaredPortOf(one)?.number, declares);
  });
