/** The sidecar's rules in this process: what a request costs before Envoy and the network are counted. */

import type { Decide, RequestHead } from '../../runtime/sidecar/decision.ts';
import { routeOf } from '../../runtime/sidecar/outbound/routes.ts';
import type { Figure, Finding } from './figures.ts';
import { microseconds } from './micro.ts';
import { createIssuer, givenToken, inboundRules, manyRoutes, outboundRules, routedHost } from './sidecar-parts.ts';
import type { World } from './world.ts';

const noSignal = new AbortController().signal;

function head(authority: string, path: string, token: string): RequestHead {
  return {
    direction: 'inbound',
    method: 'GET',
    path,
    authority,
    destination: { address: '10.0.0.7', port: 8000 },
    source: { address: '10.0.0.9', port: 40_000 },
    isTls: false,
    peer: undefined,
    values: (name) => (name === 'authorization' ? [`Bearer ${token}`] : []),
  };
}

/** Microseconds a decision, one after another; what is decided at once is not waited for. */
async function eachTakes(calls: number, decide: Decide, request: RequestHead): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round < 8; round += 1) {
    const begun = performance.now();
    for (let call = 0; call < calls; call += 1) {
      const decision = decide(request, noSignal);
      if (decision instanceof Promise) await decision;
    }
    rounds.push(((performance.now() - begun) * 1000) / calls);
  }
  return rounds.slice(1).sort((a, b) => a - b)[3] ?? Number.NaN;
}

export async function measureSidecarRules(world: World): Promise<Finding> {
  world.say('sidecar: rules');
  const made = await createIssuer();
  const { token } = made;
  const routes = manyRoutes();
  const outbound = () => outboundRules(givenToken, '10.0.0.7');
  const few = world.size(2_000);
  const many = world.size(20_000);
  const figure = (what: string, value: number): Figure => ({ what, value, unit: 'µs' });
  return {
    title: 'sidecar: rules',
    how: `In this process, after warming up; medians of seven rounds. The token is signed with RS256 and has ${token.length} characters; the table has 100 routes, of which the last matches.`,
    figures: [
      figure('inbound, open path', await eachTakes(many, inboundRules(made, 10), head('a', '/healthz', token))),
      figure('inbound, token verified before', await eachTakes(many, inboundRules(made, 10), head('a', '/', token))),
      figure('inbound, token not seen before', await eachTakes(few, inboundRules(made, 0), head('a', '/', token))),
      figure(
        'outbound, host among 100 routes',
        microseconds(many, () => routeOf(routes, routedHost)),
      ),
      figure('outbound, no route and no token of ours', await eachTakes(many, outbound(), head('a.b', '/', 'sk-1'))),
      figure('outbound, token exchanged before', await eachTakes(many, outbound(), head(routedHost, '/', token))),
    ],
  };
}
