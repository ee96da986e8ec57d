/** Where the Workload API is, as `SPIFFE_ENDPOINT_SOCKET` tells it: a Unix socket (SPIFFE Workload Endpoint, section 4). */

import { plain } from '../../signature/refusal.ts';

/** What the kernel takes for the path of a socket, in bytes. */
const mostBytes = 107;
const grammar = /^unix:(?:\/\/)?(\/[^/?#\0][^?#\0]*)$/;

/** The path in `unix:///path` or `unix:/path`, or a sentence that names the variable, what is wrong and what to write. Never throws. */
export function workloadApiSocket(text: string): { readonly path: string } | { readonly fault: string } {
  const path = grammar.exec(text)?.[1];
  if (path === undefined) return { fault: `SPIFFE_ENDPOINT_SOCKET ${faultOf(text)}` };
  const bytes = Buffer.byteLength(path);
  if (bytes <= mostBytes) return { path };
  return { fault: `SPIFFE_ENDPOINT_SOCKET names a path of ${bytes} bytes; that of a socket has at most ${mostBytes}` };
}

function faultOf(text: string): string {
  const shown = JSON.stringify(plain(text, 200));
  if (text === '') return 'is empty; it names the Unix socket of the SPIRE agent, such as unix:///run/spire/agent.sock';
  if (text.startsWith('/')) return `is the bare path ${shown}; write unix://${plain(text, 200)}`;
  if (text.startsWith('tcp:')) {
    return `is the TCP address ${shown}; an agent knows who asks only over a Unix socket: write unix:///PATH`;
  }
  return `is ${shown}; it must be unix:///PATH, an absolute path without a host, a query and a fragment`;
}
