/** Gives the application in the pod its orders, and tells what came of them. */

import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import path from 'node:path';
import type { Namespace } from './namespace.ts';

export interface Call {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string;
  /** By HTTP/2, as gRPC does. */
  readonly isHttp2?: boolean;
  /** By HTTP/2 alone: the proxy that is asked for a tunnel first. */
  readonly tunnel?: { readonly host: string; readonly port: number };
}

/** One of these. */
export interface Order {
  /** Serve HTTP/1 on this port and HTTP/2 on the next. */
  readonly listen?: number;
  readonly call?: Call;
  readonly connect?: {
    readonly host: string;
    readonly port: number;
    readonly isTls?: boolean;
    readonly send?: string;
    /** Asked for by CONNECT first. */
    readonly tunnel?: string;
  };
  /** Sends these one after the other, each when there was an answer to the one before, and reads until the other side closes. */
  readonly converse?: { readonly host: string; readonly port: number; readonly send: readonly string[] };
  /** Send this to whoever asked for `?held=…`. */
  readonly push?: { readonly held: string; readonly text: string; readonly isLast?: boolean };
}

export interface Said {
  readonly status?: number | undefined;
  readonly headers?: IncomingHttpHeaders;
  readonly body?: string;
  readonly error?: string;
  readonly ms?: number;
  /** SHA-256 of the certificate that was shown. */
  readonly peer?: string;
}

export interface Agent {
  readonly port: number;
  call(call: Call): Promise<Said>;
  connect(to: NonNullable<Order['connect']>): Promise<Said>;
  /** All that came back. */
  converse(to: NonNullable<Order['converse']>): Promise<string>;
  push(held: string, text: string, isLast?: boolean): Promise<Said>;
  /** Resolves when a request with `?held=…` has reached the application. */
  untilHeld(held: string): Promise<void>;
  end(): Promise<void>;
}

const applicationUid = 1000;

export async function startAgent(namespace: Namespace, port = 8080): Promise<Agent> {
  const program = path.join(import.meta.dirname, 'application.ts');
  const child = namespace.start(applicationUid, process.execPath, [program], ['ignore', 'inherit', 'inherit', 'ipc']);
  const answers = new Map<number, (said: Said) => void>();
  const held = new Map<string, PromiseWithResolvers<void>>();
  const holding = (name: string) => {
    const known = held.get(name) ?? Promise.withResolvers<void>();
    held.set(name, known);
    return known;
  };
  child.on('message', (message: { readonly id?: number; readonly said?: Said; readonly held?: string }) => {
    if (message.held !== undefined) holding(message.held).resolve();
    if (message.id !== undefined) answers.get(message.id)?.(message.said ?? {});
  });
  let count = 0;
  const order = (what: Order): Promise<Said> => {
    const id = (count += 1);
    return new Promise((resolve) => {
      answers.set(id, resolve);
      child.send({ id, order: what });
    });
  };
  await order({ listen: port });
  return {
    port,
    call: (call) => order({ call }),
    connect: (connect) => order({ connect }),
    converse: async (converse) => (await order({ converse })).body ?? '',
    push: (name, text, isLast = false) => order({ push: { held: name, text, isLast } }),
    untilHeld: (name) => holding(name).promise,
    end: async () => {
      if (child.exitCode !== null) return;
      child.disconnect();
      await once(child, 'exit');
    },
  };
}
