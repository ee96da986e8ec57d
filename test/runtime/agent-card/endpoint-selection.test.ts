/** Which pods a Service leads to: those that it selects, by whatever labels they bear. */

import { test } from 'node:test';
import { pod, expectEndpoint, type Row, service } from './endpoint-fixtures.ts';

const http = { name: 'http', port: 80, targetPort: 8080 };
const a2a = { name: 'a2a', port: 8000 };
const podName = 'statefulset.kubernetes.io/pod-name';
const numbered = (i: number, ready: 'True' | 'False' = 'True') =>
  pod(`weather-${i}`, [`10.1.0.${i}`], {
    ready,
    ports: [{ containerPort: 8080 }],
    labels: { app: 'weather', [podName]: `weather-${i}` },
  });

const rows: readonly Row[] = [
  {
    what: 'among equals one that selects every pod wins over one of a single pod of a StatefulSet',
    services: [
      service('only-2', { ports: [http], selector: { [podName]: 'weather-2' } }),
      service('w', { ports: [http] }),
    ],
    pods: [1, 2].map((i) => numbered(i)),
    is: '10.1.0.1:8080 w.team1.svc:80',
  },
  {
    what: 'a Service that selects by a label that Kubernetes adds leads to the pods that bear it',
    services: [service('only-2', { ports: [http], selector: { [podName]: 'weather-2' } })],
    pods: [1, 2].map((i) => numbered(i)),
    is: '10.1.0.2:8080 only-2.team1.svc:80',
  },
  {
    what: 'a Service that selects no pod that is ready is passed over',
    services: [
      service('only-2', { ports: [a2a], selector: { [podName]: 'weather-2' } }),
      service('w', { ports: [http] }),
    ],
    pods: [numbered(1), numbered(2, 'False')],
    is: '10.1.0.1:8080 w.team1.svc:80',
  },
  {
    what: 'where only a Service of some pods selects none that is ready, the others are asked at the port that they declare',
    services: [service('only-2', { ports: [a2a], selector: { [podName]: 'weather-2' } })],
    pods: [numbered(1), numbered(2, 'False')],
    is: '10.1.0.1:8080 10.1.0.1:8080',
    via: 'container port 8080',
  },
  {
    what: 'where they declare none, the Service is waited for',
    services: [service('only-2', { ports: [a2a], selector: { [podName]: 'weather-2' } })],
    pods: [pod('weather-1', ['10.1.0.1']), numbered(2, 'False')],
    is: 'WorkloadNotReady',
    says: /^Service only-2 selects no pod of Deployment weather that is ready; the card is fetched as soon as it does$/,
  },
  {
    what: 'where a Service of every pod of the template selects none that is ready, that is waited for, and no port is guessed',
    services: [
      service('only-2', { ports: [a2a], selector: { [podName]: 'weather-2' } }),
      service('w', { ports: [http], selector: { app: 'weather' } }),
    ],
    pods: [
      pod('old-1', ['10.1.0.1'], { ports: [{ containerPort: 8080 }], labels: { app: 'former' } }),
      numbered(2, 'False'),
    ],
    is: 'WorkloadNotReady',
    says: /^Service w selects no pod of Deployment weather that is ready; /,
  },
];

for (const row of rows) test(row.what, () => expectEndpoint(row));
