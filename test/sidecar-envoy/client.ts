/** A caller outside the pod. */

import http, { type OutgoingHttpHeaders } from 'node:http';
import net from 'node:net';
import type { Bed } from './bed.ts';

export interface Seen {
  readonly path: string;
  readonly method: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Values of a header as the application got it. */
  values(name: string): readonly string[];
}

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
  /** What the application saw of the request. */
  json(): Seen;
}

export interface Options {
  readonly method?: string;
  /** By name, or names and values in turn. */
  readonly headers?: OutgoingHttpHeaders | readonly string[];
  readonly body?: string;
  readonly agent?: http.Agent;
}

/** One request on a connection of its own, unless an agent is given. */
export function request(url: string, { method = 'GET', headers = {}, body, agent }: Options = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    // The path as it is given: a URL would be normalised here already.
    const [, host = '', path = ''] = /^http:\/\/([^/]+)(.*)$/.exec(url) ?? [];
    const { hostname, port } = new URL(`http://${host}`);
    const options = { hostname: hostname.replaceAll(/[[\]]/g, ''), port, path, method, headers };
    const sent = http.request({ ...options, agent: agent ?? false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve(answerOf(response, Buffer.concat(chunks).toString())));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

function answerOf({ statusCode = 0, headers }: http.IncomingMessage, body: string): Answer {
  return {
    status: statusCode,
    headers,
    body,
    json: () => {
      const seen = JSON.parse(body) as Seen & { readonly headers: readonly (readonly [string, string])[] };
      return { ...seen, values: (name) => seen.headers.filter(([key]) => key === name).map(([, value]) => value) };
    },
  };
}

/** Sends bytes to the application's port and gives what came back until the other side closed. */
export function raw({ namespace, agent }: Bed, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host: namespace.ip, port: agent.port });
    let answer = '';
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
    socket.write(text);
  });
}
