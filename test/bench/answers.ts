/** A process of its own: a server of plain HTTP that answers every request with one text, on each of the ports. */

import { once } from 'node:events';
import { createServer } from 'node:http';

const [text = '', ...ports] = process.argv.slice(2);

const listening = ports.map(async (port) => {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      response.setHeader('content-type', 'application/json');
      response.end(text);
    });
  });
  server.listen(Number(port), '::');
  await once(server, 'listening');
});
await Promise.all(listening);
process.on('disconnect', () => process.exit());
process.send?.('listening');
