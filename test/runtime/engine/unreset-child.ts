/** Begins a request with a body and aborts it in the same turn of the event loop, again and again; a child, because it may never come back. */

import { readFileSync, rmSync } from 'node:fs';
import http2 from 'node:http2';
import path from 'node:path';
import { systemClock } from '../../../runtime/engine/clock.ts';
import { unlimited } from '../../../runtime/engine/limiter.ts';
import { createMetrics } from '../../../runtime/engine/metrics.ts';
import { createTransport } from '../../../runtime/engine/transport.ts';
import { writeCertificates } from '../../lab/certificates.ts';
import { makeOwnedDir } from '../../lab/owned-dir.ts';

const dir = makeOwnedDir('unreset');
await writeCertificates(dir, { apiServerHosts: ['127.0.0.1'] });
const file = (name: string) => readFileSync(path.join(dir, name));
const [cert, key] = [file('kube-apiserver.crt'), file('kube-apiserver.key')];
const server = http2.createSecureServer({ cert, key }, (request, response) => {
  request.on('error', () => {}).resume();
  request.on('end', () => response.end('{}'));
});
server.on('stream', (stream) => stream.on('error', () => {}));
await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
const address = server.address();
if (address === null || typeof address === 'string') throw new Error('no port');
const transport = createTransport({
  connection: {
    server: `https://127.0.0.1:${address.port}`,
    currentNamespace: 'default',
    authorization: () => Promise.resolve(undefined),
    tls: () => Promise.resolve({ ca: file('ca.crt') }),
    refresh: () => {},
  },
  clock: systemClock,
  metrics: createMetrics({ process: false }),
  limiter: unlimited,
  userAgent: 'unreset',
});
const put = (length: number, signal?: AbortSignal) =>
  transport.request({ method: 'PUT', path: '/', body: { text: 'x'.repeat(length) }, signal });
/** From the start of a request to its abort. */
const gaps: readonly ((then: () => void) => void)[] = [
  (then) => then(),
  queueMicrotask,
  (then) => void setImmediate(then),
  (then) => void setTimeout(then, 1),
];
await put(1);
for (const length of [300, 200_000]) {
  for (const gap of gaps) {
    for (let times = 0; times < 5; times += 1) {
      const abort = new AbortController();
      await new Promise<void>((resolve) => {
        const end = (): void => resolve();
        setTimeout(() => void put(length, abort.signal).then(end, end), 1);
        setTimeout(() => gap(() => abort.abort(new Error('lost'))), 1);
        // Both are due when the loop comes back.
        for (const from = performance.now(); performance.now() < from + 3; );
      });
    }
  }
}
// The connection serves on.
await put(1);
rmSync(dir, { recursive: true, force: true });
process.stdout.write('came back');
process.exit(0);
