/** A tool as people write them with the public MCP SDK: sessions over streamable HTTP, progress while it works. It tells whose token it was called with. */

import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

const steps = 3;
const stepMs = 300;

function makeServer(): McpServer {
  const server = new McpServer({ name: 'clock', version: '1.0.0' });
  server.registerTool(
    'whose',
    { description: 'Says in steps whose token it is called with.' },
    async ({ _meta: meta, ...extra }) => {
      const progressToken = meta?.progressToken;
      for (let progress = 1; progress <= steps; progress += 1) {
        await sleep(stepMs);
        if (progressToken === undefined) continue;
        await extra.sendNotification({
          method: 'notifications/progress',
          params: { progressToken, progress, total: steps },
        });
      }
      const text = claimsOf(String(extra.requestInfo?.headers['authorization'] ?? ''));
      return { content: [{ type: 'text', text }] };
    },
  );
  return server;
}

/** As it is written: verifying it is the platform's part. */
function claimsOf(authorization: string): string {
  const [, payload = ''] = authorization.replace(/^Bearer /, '').split('.');
  return Buffer.from(payload, 'base64url').toString();
}

const sessions = new Map<string, StreamableHTTPServerTransport>();

async function startSession(): Promise<StreamableHTTPServerTransport> {
  const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  });
  await makeServer().connect(transport);
  return transport;
}

const app = createMcpExpressApp({ host: '0.0.0.0' });
app.all('/mcp', async (request: IncomingMessage & { readonly body?: unknown }, response: ServerResponse) => {
  const id = String(request.headers['mcp-session-id'] ?? '');
  const transport = sessions.get(id) ?? (await startSession());
  await transport.handleRequest(request, response, request.body);
});
app.listen(8080);
