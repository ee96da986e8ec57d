/** Single functions in this process: no cluster, no network. */

import fastJsonPatch from 'fast-json-patch';
import { decide } from '../../runtime/agent-runtime/decide.ts';
import type { Pod } from '../../runtime/api/kubernetes.ts';
import { judge } from '../../runtime/authbridge/judge.ts';
import { createMemory } from '../../runtime/authbridge/memory.ts';
import { configHash } from '../../runtime/config/config-hash.ts';
import { mergeLayers } from '../../runtime/config/merge.ts';
import type { PartialConfig } from '../../runtime/config/platform.ts';
import { jsonPatch } from '../../runtime/engine/json-patch.ts';
import { enrolledPods } from '../../runtime/workload/watches.ts';
import { after, authBridge, now, observed } from '../runtime/agent-runtime/fixtures.ts';
import { layers, p0, r0, snapshot } from '../runtime/authbridge/fixtures.ts';
import { eventsPerSecond } from './fake-watch.ts';
import type { Figure, Finding } from './figures.ts';
import { microseconds } from './micro.ts';
import { podOf } from './review.ts';
import type { World } from './world.ts';

const key = { namespace: 'team1', name: 'weather-agent' };

/** The pod of the admission scenarios, and one as large as annotations and environment make them. */
const pods: readonly (readonly [size: string, pod: Pod])[] = [
  ['4 KB', podOf(key, undefined)],
  ['100 KB', large()],
];

function large(): Pod {
  const env = Array.from({ length: 1_400 }, (_, index) => ({
    name: `SETTING_${index}`,
    value: `value-of-setting-number-${index}`,
  }));
  return p0({ container: { env }, annotations: { notes: 'x'.repeat(16 * 1024) } });
}

const config: PartialConfig = {
  authBridge: { mode: 'proxy-sidecar' },
  spiffe: { trustDomain: 'bench.example' },
  resources: { envoyProxy: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } } },
  trace: { sampling: { type: 'always' } },
};

function ofPod(size: string, pod: Pod, calls: number): readonly Figure[] {
  const memory = createMemory();
  const given = snapshot({ pod, config });
  const injected = (): Pod => {
    const { verdict } = judge(given, memory);
    if (verdict.kind !== 'mutate') throw new Error(verdict.note);
    return verdict.object;
  };
  const now = injected();
  const clone = structuredClone(now);
  const ours = microseconds(calls, () => jsonPatch(pod, now));
  const theirs = microseconds(Math.ceil(calls / 10), () => fastJsonPatch.compare(pod, clone));
  return [
    { what: `judge and inject, pod of ${size}`, value: microseconds(calls, injected), unit: 'µs' },
    {
      what: `the patch of it`,
      value: ours,
      unit: 'µs',
      ratio: `fast-json-patch on a clone: ${theirs.toFixed(0)} µs, ${(theirs / ours).toFixed(0)} times as long`,
    },
  ];
}

export async function measurePure(world: World): Promise<Finding> {
  world.say('pure: functions');
  const calls = world.size(5_000);
  const given = layers({}, config);
  const runtime = r0({ mtlsMode: 'strict' });
  const first = observed({ authBridge: authBridge(given) });
  const settled = after(first, decide(first, now));
  const many = Array.from({ length: world.size(20_000) }, (_, index) => stored(index));
  return {
    title: 'pure: functions',
    how: 'In this process, after warming up; medians of seven rounds. The cache is fed as a watch feeds it: parsing, reducing, indexing, one listener.',
    figures: [
      ...pods.flatMap(([size, pod]) => ofPod(size, pod, calls)),
      { what: 'hash of a configuration', value: microseconds(calls, () => configHash(given, 'agent')), unit: 'µs' },
      { what: 'merge of a configuration', value: microseconds(calls, () => mergeLayers(given, runtime)), unit: 'µs' },
      { what: 'decide, workload to be enrolled', value: microseconds(calls, () => decide(first, now)), unit: 'µs' },
      { what: 'decide, nothing to do', value: microseconds(calls, () => decide(settled, now)), unit: 'µs' },
      { what: 'cache, pods of 4 KB', value: await eventsPerSecond(enrolledPods, many), unit: 'events/s' },
    ],
  };
}

/** A pod as the API server stores it. */
function stored(index: number): Pod {
  const pod = podOf(key, undefined);
  const name = `weather-agent-7d9f8c6b5-${index}`;
  const { generateName: _, ...metadata } = pod.metadata;
  return { ...pod, metadata: { ...metadata, name, uid: `uid-${index}`, resourceVersion: String(index + 1) } };
}
