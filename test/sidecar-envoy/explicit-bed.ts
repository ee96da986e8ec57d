/** A pod whose traffic nobody redirects: the proxy with the rules for outgoing calls, and a tool outside of it that tells what it got. */

import { once } from 'node:events';
import http from 'node:http';
import type net from 'node:net';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../runtime/engine/clock.ts';
import { createAddresses } from '../../runtime/sidecar/outbound/addresses.ts';
import { createOutbound } from '../../runtime/sidecar/outbound/decide.ts';
import { createExplicit } from '../../runtime/sidecar/outbound/explicit.ts';
import { readRoutes } from '../../runtime/sidecar/outbound/routes.ts';
import { type Bed, startBed } from './bed.ts';

const issuer = 'https://login.example/realms/agents';
const routes = readRoutes(
  JSON.stringify([
    { host: 'tool.test', audience: 'tool' },
    { host: 'closed.test', action: 'deny' },
  ]),
);
export const ports = { inbound: 15124, outbound: 15123 };

/** A token of the issuer, as far as the sidecar looks. */
export const callers = `x.${Buffer.from(JSON.stringify({ iss: issuer, exp: 4_000_000_000 })).toString('base64url')}.x`;

export const bearer = `authorization: Bearer ${callers}`;

/** The head of a request, after which the connection ends. */
export const lines = (...all: readonly string[]): string => [...all, 'connection: close', '', ''].join('\r\n');

export interface ExplicitBed extends Bed {
  /** What the tool was asked. */
  readonly seen: readonly http.IncomingMessage[];
  readonly toolPort: number;
  /** Answers with path, host and authorization. */
  readonly answer: http.RequestListener;
  /** Listens outside of the pod, until the bed ends. */
  listening(server: net.Server): Promise<number>;
  /** What the proxy answers the application to these bytes, until either closes; `then`: sent after the first answer. */
  sent(text: string, then?: string): Promise<string>;
}

/** `tool.test` has a route, `closed.test` is closed, `plain.test` has none; all three are outside of the pod, at the same address. */
export async function startExplicitBed(): Promise<ExplicitBed> {
  const bed = await startBed({ intent: { explicit: { application: 8080, isOutbound: true } } });
  const servers: net.Server[] = [];
  const seen: http.IncomingMessage[] = [];
  obeyRules(bed);

  async function listening(server: net.Server): Promise<number> {
    servers.push(server.listen(0, bed.namespace.gateway));
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  const answer: http.RequestListener = ({ url, headers }, response) => {
    response.end(`${url} ${headers.host} ${headers.authorization ?? '-'}`);
  };
  const tool = http.createServer((got, response) => {
    seen.push(got);
    answer(got, response);
  });
  return {
    ...bed,
    seen,
    toolPort: await listening(tool),
    answer,
    listening,
    sent: (text, then) =>
      bed.agent.converse({
        host: '127.0.0.1',
        port: ports.outbound,
        send: [text, ...(then === undefined ? [] : [then])],
      }),
    stop: async () => {
      for (const server of servers) server.close();
      await bed.stop();
    },
  };
}

function obeyRules(bed: Bed): void {
  if (!('value' in routes)) throw new Error(routes.problem);
  const { ip, gateway } = bed.namespace;
  const hosts: Readonly<Record<string, string>> = {
    'tool.test': gateway,
    'plain.test': gateway,
    'closed.test': gateway,
    'me.test': ip,
    'here.test': '127.0.0.1',
  };
  const placeOf = createAddresses({
    resolve: async (host) => {
      const address = hosts[host];
      if (address === undefined) throw new Error(`no ${host}`);
      return [address];
    },
    clock: systemClock,
  });
  const rules = { routes: routes.value, placeOf, own: [ip], clock: systemClock };
  const outbound = createOutbound({
    mtls: { mode: 'disabled', unavailable: () => undefined },
    ...rules,
    issuer,
    fallback: undefined,
    tokenFor: async ({ audience }) => ({ kind: 'token', token: `for-${audience}`, lifeSeconds: 60 }),
  });
  bed.rule('outbound', createExplicit({ ...rules, outbound, port: ports.outbound }));
}
