/** An agent and a tool as their developers write them: plain programs of Node that know nothing of any sidecar, tokens or identities but the header they pass on. */

/** `GET /ask` asks the tool in the caller's name, by passing on the caller's `Authorization`, and answers what the tool said. */
export const assistant = `
const http = require('node:http');
http.createServer(async (request, response) => {
  if (request.url === '/healthz') return response.end('ok');
  if (request.url !== '/ask') return response.end(JSON.stringify({ assistant: 'at your service' }));
  const { authorization } = request.headers;
  try {
    const answer = await fetch('http://tickets.team3.svc:8080/open', { headers: authorization ? { authorization } : {} });
    response.end(JSON.stringify({ tool: { status: answer.status, said: await answer.json() } }));
  } catch (error) {
    response.end(JSON.stringify({ tool: String(error.cause ?? error) }));
  }
}).listen(8080);
process.on('SIGTERM', () => process.exit());
`;

/** Prints whose token it was called with, and answers it. */
export const tickets = `
require('node:http').createServer((request, response) => {
  if (request.url === '/healthz') return response.end('ok');
  const token = (request.headers.authorization ?? '').replace(/^Bearer /, '');
  const claims = token === '' ? {} : JSON.parse(Buffer.from(token.split('.')[1], 'base64url'));
  const seen = { for: claims.aud, by: claims.azp, about: claims.preferred_username };
  console.log('called with a token ' + JSON.stringify(seen));
  response.end(JSON.stringify(seen));
}).listen(8080);
process.on('SIGTERM', () => process.exit());
`;

/** Prints the certificates that the pod's Envoy holds, from its page on loopback. */
export const certificates = `fetch('http://127.0.0.1:9901/certs').then((page) => page.text()).then((text) => console.log(text));`;
