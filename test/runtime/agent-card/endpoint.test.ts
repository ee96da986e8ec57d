/** Where a card is asked for: which Service, which port, which address; AC-03. */

import { test } from 'node:test';
import type { Container } from '../../../runtime/api/kubernetes.ts';
import { deployment, pod, pods, expectEndpoint, type Row, service, slice } from './endpoint-fixtures.ts';

/** The same two, whose container declares these. */
const listening = (ports: Container['ports']) =>
  pods.map((one) => ({ ...one, spec: { containers: [{ name: 'agent', ports }] } }));
const http = { name: 'http', port: 80, targetPort: 8080 };
const a2a = { name: 'a2a', port: 8000 };
const metrics = service('weather-metrics', { ports: [{ port: 9090 }], clusterIP: '10.96.0.9' });
const headless = (facts: Parameters<typeof service>[1] = {}) =>
  service('weather-headless', { clusterIP: 'None', ...facts });

const sidecar = (ports: Container['ports']): Container => ({ name: 'side', restartPolicy: 'Always', ports });
const toCards = service('w', { ports: [{ name: 'a2a', port: 80, targetPort: 'cards' }] });

const svc = service('weather-svc', { ports: [{ port: 80, targetPort: 8080 }] });
const listed = [{ addresses: ['10.1.0.2'] }, { addresses: ['10.1.0.1'] }];

const rows: readonly Row[] = [
  {
    what: 'AC-03: of a Service, its metrics and a headless one without ports, the Service; not by name but by selector',
    services: [headless(), metrics, svc],
    is: '10.1.0.1:8080 weather-svc.team1.svc:80',
    via: 'Service weather-svc, port 80',
  },
  {
    what: 'AC-03: a headless Service without ports leads to a ready pod and the port its container declares',
    services: [headless()],
    pods: listening([{ name: 'prom', containerPort: 9000 }, { containerPort: 8080 }]),
    is: '10.1.0.1:8080 weather-headless.team1.svc:8080',
    via: 'headless Service weather-headless, port 8080',
  },
  {
    what: 'AC-03: a headless Service with ports leads to the port behind them, on a ready pod of this workload',
    services: [headless({ ports: [a2a] })],
    slices: [slice('weather-headless', { endpoints: listed, ports: [{ name: 'a2a', port: 18000 }] })],
    is: '10.1.0.1:18000 weather-headless.team1.svc:18000',
    via: 'headless Service weather-headless, port a2a 8000',
  },
  {
    what: 'AC-03: a metrics Service alone leaves the port of the container',
    services: [metrics],
    pods: listening([{ containerPort: 8080 }]),
    is: '10.1.0.1:8080 10.1.0.1:8080',
    via: 'container port 8080',
  },
  {
    what: 'no Service: the container’s port named a2a',
    pods: listening([{ containerPort: 1 }, { name: 'http', containerPort: 2 }, { name: 'a2a', containerPort: 3 }]),
    is: '10.1.0.1:3 10.1.0.1:3',
  },
  {
    what: 'no Service: not what an init container declares, be it a sidecar',
    pods: [
      pod('weather-1', ['10.1.0.1'], {
        ports: [{ containerPort: 8080 }],
        initContainers: [sidecar([{ name: 'a2a', containerPort: 3 }])],
      }),
    ],
    is: '10.1.0.1:8080 10.1.0.1:8080',
  },
  {
    what: 'a port named a2a in any Service wins over the Service named like the workload',
    services: [service('weather', { ports: [http] }), service('zz', { ports: [a2a] })],
    is: '10.1.0.1:8000 zz.team1.svc:8000',
  },
  {
    what: 'among equals the Service named like the workload wins',
    services: [service('aa', { ports: [http] }), service('weather', { ports: [{ port: 81 }] })],
    is: '10.1.0.1:81 weather.team1.svc:81',
  },
  {
    what: 'among equals with other names the first wins',
    services: [service('bb', { ports: [http] }), service('aa', { ports: [http] })],
    is: '10.1.0.1:8080 aa.team1.svc:80',
  },
  {
    what: 'an annotated Service wins, by the port’s number',
    services: [service('weather', { ports: [a2a] }), service('aa', { ports: [http, { port: 9090 }], port: '9090' })],
    is: '10.1.0.1:9090 aa.team1.svc:9090',
  },
  {
    what: 'an annotation names a port',
    services: [service('w', { ports: [a2a, http], port: ' http ' })],
    is: '10.1.0.1:8080 w.team1.svc:80',
  },
  {
    what: 'an annotated number on a headless Service without ports is the pods’ port',
    services: [headless({ port: '8123' })],
    is: '10.1.0.1:8123 weather-headless.team1.svc:8123',
  },
  ...['abc', '0', '70000', '', '443', '8080', '-1', '1e3'].map((port) => ({
    what: `an annotation that is none of the Service’s ports is said: ${JSON.stringify(port)}`,
    services: [service('w', { ports: [a2a, http, { name: 'dns', port: 443, protocol: 'UDP' }], port })],
    is: 'ServiceNotFound',
    says: /^Service w: annotation rossoctl\.io\/port says ".*", which is none of its ports\. Its TCP ports are a2a 8000, http 80$/,
  })),
  {
    what: 'an annotation with a number too large for a headless Service is said',
    services: [headless({ port: '65536' })],
    is: 'ServiceNotFound',
    says: /It has no TCP ports; give a number from 1 to 65535$/,
  },
  {
    what: 'an ExternalName is never followed',
    services: [service('w', { type: 'ExternalName', clusterIP: '', ports: [a2a] })],
    is: 'ServiceNotFound',
    says: /none has a port for it \(w is an ExternalName, which is not followed\), and the containers of its ready pods declare no port/,
  },
  {
    what: 'neither a Service nor a port',
    is: 'ServiceNotFound',
    says: /^Nothing says where Deployment weather serves its card: no Service of namespace team1 selects its pods, .* Name a port a2a, or set annotation rossoctl\.io\/port on the Service$/,
  },
  {
    what: 'only metrics',
    services: [metrics],
    is: 'ServiceNotFound',
    says: /\(weather-metrics: 9090\)/,
  },
  {
    what: 'UDP is no HTTP',
    services: [service('w', { ports: [{ ...a2a, protocol: 'UDP' }] })],
    is: 'ServiceNotFound',
    says: /w: a2a 8000/,
  },
  {
    what: 'no pod',
    services: [svc],
    pods: [],
    is: 'WorkloadNotReady',
    says: /^Deployment weather has no running pod; /,
  },
  {
    what: 'no pod that is ready',
    services: [svc],
    pods: [pod('a', ['10.1.0.1'], { ready: 'False' }), pod('b', []), { ...pod('c', []), status: {} }],
    is: 'WorkloadNotReady',
    says: /^Deployment weather has no pod that is ready; its card is fetched as soon as one is$/,
  },
  {
    what: 'a headless Service that lists nobody yet',
    services: [headless({ ports: [a2a] })],
    is: 'WorkloadNotReady',
    says: /^Service weather-headless does not list a ready pod of Deployment weather yet/,
  },
  {
    what: 'AC-04: addresses that are no pod’s of the workload, not ready, names, or of another port lead nowhere',
    services: [headless({ ports: [a2a] })],
    slices: [
      slice('weather-headless', {
        endpoints: [{ addresses: ['169.254.169.254', '10.1.0.99'] }],
        ports: [{ name: 'a2a', port: 80 }],
      }),
      slice('weather-headless', {
        endpoints: [{ addresses: ['10.1.0.1'], conditions: { ready: false } }],
        ports: [{ name: 'a2a', port: 80 }],
      }),
      slice('weather-headless', { endpoints: listed, addressType: 'FQDN', ports: [{ name: 'a2a', port: 80 }] }),
      slice('weather-headless', { endpoints: listed, ports: [{ name: 'http', port: 80 }] }),
      slice('weather-headless', { ports: [{ name: 'a2a' }] }),
      slice('weather-headless'),
    ],
    is: 'WorkloadNotReady',
  },
  {
    what: 'dual stack: the family that the slice lists',
    services: [headless({ ports: [{ port: 8000 }] })],
    pods: [pod('weather-1', ['10.1.0.1', 'fd00::1'])],
    slices: [
      slice('weather-headless', {
        addressType: 'IPv6',
        endpoints: [{ addresses: ['fd00::1'] }],
        ports: [{ name: '', port: 8000 }],
      }),
    ],
    is: 'fd00::1:8000 weather-headless.team1.svc:8000',
  },
  {
    what: 'IPv6: brackets in the host of a pod',
    pods: [pod('weather-1', ['fd00::1'], { ports: [{ containerPort: 8080 }] })],
    is: 'fd00::1:8080 [fd00::1]:8080',
  },
  {
    what: 'IPv6: the pod’s address, the Service’s host',
    pods: [pod('weather-1', ['fd00::1'])],
    services: [service('w', { clusterIP: 'fd00::7', ports: [a2a] })],
    is: 'fd00::1:8000 w.team1.svc:8000',
  },
  {
    what: 'a Service that leads to a name no container knows is said',
    services: [toCards],
    pods: listening([{ containerPort: 8080 }]),
    is: 'ServiceNotFound',
    says: /^Service w leads port a2a 80 to "cards", which no container in the ready pods of Deployment weather calls a port\. Correct targetPort/,
  },
  {
    what: 'a rollout that is stuck: the old pod is asked where it listens, whatever the template says by now',
    services: [toCards],
    workload: deployment({ ports: [{ name: 'cards', containerPort: 8081 }] }),
    pods: [
      pod('weather-0', ['10.1.0.9'], { ready: 'False', ports: [{ name: 'cards', containerPort: 8081 }] }),
      pod('weather-1', ['10.1.0.1'], { ports: [{ name: 'cards', containerPort: 8080 }] }),
    ],
    is: '10.1.0.1:8080 w.team1.svc:80',
  },
  {
    what: 'a rollout that is stuck, without a Service: the port that the old pod declares',
    workload: deployment({ ports: [{ containerPort: 8081 }] }),
    pods: listening([{ containerPort: 8080 }]),
    is: '10.1.0.1:8080 10.1.0.1:8080',
  },
  {
    what: 'a Service without an address yet is none',
    services: [service('w', { clusterIP: '', ports: [a2a] })],
    is: 'ServiceNotFound',
  },
];

for (const row of rows) test(row.what, () => expectEndpoint(row));
