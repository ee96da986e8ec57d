/** What runs in the pods of the test: an ordinary agent, a tool and a server of keys, as Node programs that know nothing of any sidecar. */

/** Answers what it got; `/call?u=URL` calls on with the `Authorization` it was given, as agents do. */
export const agent = `
const http = require('node:http');
http.createServer((request, response) => {
  const { url, headers } = request;
  if (url === '/ready') return response.end('ready');
  if (url.startsWith('/.well-known/')) return response.end(JSON.stringify({ name: 'agent' }));
  if (url === '/events') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let count = 0;
    const timer = setInterval(() => {
      response.write('data: ' + ++count + '\\n\\n');
      if (count === 3) { clearInterval(timer); response.end(); }
    }, 300);
    return;
  }
  if (!url.startsWith('/call?')) return response.end(JSON.stringify({ url, authorization: headers.authorization ?? '' }));
  const target = new URL(url, 'http://agent').searchParams.get('u');
  const passed = headers.authorization === undefined ? {} : { authorization: headers.authorization };
  fetch(target, { headers: passed }).then(
    async (answer) => response.end(JSON.stringify({ status: answer.status, body: await answer.text() })),
    (error) => response.end(JSON.stringify({ error: String(error.cause ?? error) })),
  );
}).listen(8080);
`;

/** Tells which credentials it was called with. */
export const tool = `
require('node:http').createServer((request, response) => {
  response.end(JSON.stringify({ url: request.url, authorization: request.headers.authorization ?? '' }));
}).listen(8080);
`;

/** Serves the issuer's public keys. */
export function keyServer(jwks: object): string {
  const body = JSON.stringify(JSON.stringify(jwks));
  return `require('node:http').createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(${body});
  }).listen(8080);`;
}

/** Serves the issuer's public keys, and gives whoever posts a token that says for whom it is and who asked. */
export function provider(jwks: object): string {
  const body = JSON.stringify(JSON.stringify(jwks));
  return `require('node:http').createServer(async (request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    if (request.method !== 'POST') return response.end(${body});
    const form = new URLSearchParams(Buffer.concat(await request.toArray()).toString());
    const basic = Buffer.from((request.headers.authorization ?? '').slice('Basic '.length), 'base64').toString();
    response.end(JSON.stringify({
      access_token: 'for-' + form.get('audience') + '-by-' + basic.split(':')[0],
      token_type: 'Bearer',
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      expires_in: 300,
    }));
  }).listen(8080);`;
}

/** Asks a URL, perhaps with a token, and prints what came as one line of JSON. */
export const asking = `
const [url, token] = process.argv.slice(1);
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
fetch(url, { headers: token ? { authorization: 'Bearer ' + token } : {} }).then(
  async (answer) => {
    const [challenge, retryAfter] = ['www-authenticate', 'retry-after'].map((name) => answer.headers.get(name));
    console.log(JSON.stringify({ status: answer.status, challenge, retryAfter, body: await answer.text() }));
  },
  (error) => console.log(JSON.stringify({ error: String(error.cause?.code ?? error.cause ?? error) })),
);
`;
