/** A tiny Kubernetes client for these tests: raw requests to a test's own API server, as anyone. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Agent } from 'undici';
import type { ControlPlane } from '../lab/control-plane.ts';

/** Who asks: a user name, with `system:masters` rights unless `groups` says otherwise. */
export interface Who {
  readonly user: string;
  readonly groups?: readonly string[];
}

export interface Answer {
  readonly code: number;
  /** Parsed JSON. */
  readonly body: Json;
  readonly message: string;
  readonly warnings: readonly string[];
}

export type Json = Readonly<Record<string, unknown>>;

export interface Kube {
  request(method: string, url: string, body?: unknown, options?: RequestOptions): Promise<Answer>;
  /** The status of a GET alone: the body, for example a watch's events, is not read as one document. */
  status(url: string, who?: Who): Promise<number>;
  close(): Promise<void>;
}

export interface RequestOptions {
  readonly who?: Who | undefined;
  readonly contentType?: string;
}

/** A client with the administrator's certificate, who may impersonate. */
export function kubeOf(plane: ControlPlane): Kube {
  const file = (name: string): string => readFileSync(path.join(plane.certificatesDir, name), 'utf8');
  const connect = { ca: file('ca.crt'), cert: file('admin.crt'), key: file('admin.key') };
  const agent = new Agent({ connect });
  const impersonating = ({ user, groups = ['system:masters'] }: Who) => ({
    'Impersonate-User': user,
    'Impersonate-Group': [...groups],
  });
  return {
    status: async (url, who) => {
      const headers = who === undefined ? {} : impersonating(who);
      const { statusCode, body } = await agent.request({ origin: plane.server, path: url, method: 'GET', headers });
      await body.dump();
      return statusCode;
    },
    request: async (method, url, body, { who, contentType = 'application/json' } = {}) => {
      const impersonation = who === undefined ? {} : impersonating(who);
      const {
        statusCode,
        headers,
        body: answer,
      } = await agent.request({
        origin: plane.server,
        path: url,
        method: method as 'GET',
        headers: { 'content-type': contentType, ...impersonation },
        body: body === undefined ? null : JSON.stringify(body),
      });
      const parsed = (await answer.json()) as Json;
      const message = parsed['message'];
      const warnings = [headers['warning'] ?? []].flat();
      return { code: statusCode, body: parsed, message: typeof message === 'string' ? message : '', warnings };
    },
    close: () => agent.close(),
  };
}

/** Polls until `check` holds; throws with its last complaint after `timeoutMs`. */
export async function eventually(check: () => Promise<string | undefined>, timeoutMs = 30_000): Promise<void> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const complaint = await check();
    if (complaint === undefined) return;
    if (Date.now() > end) throw new Error(`still not so after ${timeoutMs} ms: ${complaint}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
