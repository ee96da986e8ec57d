// Asks an API server one question as the cluster's administrator.
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';

/** A way to ask one API server. */
export interface ApiServerClient {
  /** Whether the path answers with 200; false too while nothing listens. */
  answers(path: string): Promise<boolean>;
  /** The JSON at the path, or undefined when it does not answer with 200. */
  read(path: string): Promise<unknown>;
  /** Closes its connections. */
  close(): void;
}

/** A client with the administrator's certificate from `certificatesDir`. */
export function apiServerClient(server: string, certificatesDir: string): ApiServerClient {
  const file = (name: string): Buffer => readFileSync(join(certificatesDir, name));
  const agent = new Agent({ keepAlive: true, ca: file('ca.crt'), cert: file('admin.crt'), key: file('admin.key') });
  const get = (path: string): Promise<string | undefined> =>
    new Promise((resolve) => {
      const asked = request(`${server}${path}`, { agent, timeout: 5000 }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', () => resolve(undefined));
        response.on('end', () => {
          resolve(response.statusCode === 200 ? Buffer.concat(chunks).toString() : undefined);
        });
      });
      asked.on('timeout', () => asked.destroy(new Error('timed out')));
      asked.on('error', () => resolve(undefined));
      asked.end();
    });
  return {
    answers: async (path) => (await get(path)) !== undefined,
    read: async (path) => {
      const body = await get(path);
      return body === undefined ? undefined : (JSON.parse(body) as unknown);
    },
    close: () => agent.destroy(),
  };
}
