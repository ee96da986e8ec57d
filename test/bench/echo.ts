/** A process of its own: a bare fastify HTTPS server that reads JSON and answers a constant of a given size. */

import { readFileSync } from 'node:fs';
import fastify from 'fastify';

const [certificate = '', key = '', port = '0', bytes = '0'] = process.argv.slice(2);
const empty = JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: '' });
const answer = {
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  response: 'x'.repeat(Math.max(0, Number(bytes) - empty.length)),
};

const app = fastify({
  https: { cert: readFileSync(certificate), key: readFileSync(key) },
  keepAliveTimeout: 120_000,
  bodyLimit: 6 * 1024 * 1024,
});
app.post('/', (_request, reply) => reply.send(answer));
await app.listen({ port: Number(port), host: '127.0.0.1' });
