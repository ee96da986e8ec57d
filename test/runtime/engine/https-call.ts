/** One HTTPS request to a webhook server, for the tests of this folder. */

import https from 'node:https';
import tls from 'node:tls';
import type { ServingCertificate } from '../../../runtime/engine/server.ts';
import { reviewOf } from './admission-fixtures.ts';

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly fingerprint: string;
}

export interface Call {
  readonly running: { readonly url: string; readonly authority: ServingCertificate };
  /** Default: a connection of its own. */
  readonly agent?: https.Agent;
  readonly ca?: string;
  readonly body?: string;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string> | undefined;
}

export function call({
  running,
  agent,
  ca,
  body,
  method = 'POST',
  path = '/mutate?timeout=10s',
  headers = {},
}: Call): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { method, headers, agent: agent ?? false, ca: ca ?? running.authority.certificate };
    const request = https.request(`${running.url}${path}`, options, (response) => {
      const { socket } = response;
      const fingerprint = socket instanceof tls.TLSSocket ? socket.getPeerCertificate().fingerprint256 : '';
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text, fingerprint }));
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body ?? JSON.stringify(reviewOf()));
  });
}
