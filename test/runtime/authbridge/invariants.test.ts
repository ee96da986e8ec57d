/** What holds for any pod and any combination of gates, labels and configuration. */

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import jsonpatch from 'fast-json-patch';
import type { Container, Pod } from '../../../runtime/api/kubernetes.ts';
import { jsonPatch } from '../../../runtime/engine/json-patch.ts';
import { allContainers, judged, p0, r0, type SnapshotParts } from './fixtures.ts';
import { portClashes, restrictedFaults, structureFaults } from './pod-check.ts';

const ourContainers = ['proxy-init', 'envoy-proxy', 'spiffe-helper', 'client-registration'];
const ourAnnotations = [
  'rossoctl.io/injected',
  'rossoctl.io/config-hash',
  'rossoctl.io/defaults-hash',
  'rossoctl.io/keycloak-client-credentials-secret-name',
];

const port = fc.oneof(fc.integer({ min: 1, max: 65535 }), fc.constantFrom(15123, 15124, 15125, 9901, 8080));
const json = fc.jsonValue({ maxDepth: 2 });
const container = fc.record(
  {
    ports: fc.array(fc.record({ containerPort: port }), { maxLength: 4 }),
    env: fc.array(fc.record({ name: fc.constant('PORT'), value: port.map(String) }), { maxLength: 1 }),
    securityContext: fc.record({ runAsUser: fc.constantFrom(0, 1000, 1338) }),
    fieldOfTomorrow: json,
  },
  { requiredKeys: [] },
);
/** Containers with names of their own, unique in the pod. */
const containers = (prefix: string, minLength: number) =>
  fc
    .array(container, { minLength, maxLength: 3 })
    .map((list) => list.map((each, at): Container => ({ name: `${prefix}${at}`, image: 'x', ...each })));
const volumes = fc
  .uniqueArray(fc.constantFrom('a', 'b', 'spire-agent-socket', 'shared-data'), { maxLength: 3 })
  .map((names) => names.map((name) => ({ name, emptyDir: {} })));
const switchLabel = fc.constantFrom(undefined, 'true', 'false');

const pod: fc.Arbitrary<Pod> = fc
  .record({
    own: containers('app', 1),
    init: fc.option(containers('init', 0), { nil: undefined }),
    volumes: fc.option(volumes, { nil: undefined }),
    annotations: fc.option(
      fc.dictionary(fc.constantFrom('a~b/c', 'x/y', '__proto__', 'rossoctl.io/skills'), fc.string()),
      { nil: undefined },
    ),
    labels: fc.record({ envoy: switchLabel, spiffe: switchLabel, registration: switchLabel }),
    extra: json,
  })
  .map(({ own, init, volumes, annotations, labels, extra }) => {
    const switches = {
      'rossoctl.io/envoy-proxy-inject': labels.envoy,
      'rossoctl.io/spiffe-helper-inject': labels.spiffe,
      'rossoctl.io/client-registration-inject': labels.registration,
    };
    const set = Object.fromEntries(
      Object.entries(switches).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
    );
    const spec = {
      containers: own,
      ...(init && { initContainers: init }),
      ...(volumes && { volumes }),
      specOfTomorrow: extra,
    };
    return p0({ labels: set, ...(annotations && { annotations }), spec });
  });

const parts: fc.Arbitrary<SnapshotParts & { readonly pod: Pod }> = fc.record({
  pod,
  gates: fc.record({
    envoyProxy: fc.boolean(),
    spiffeHelper: fc.boolean(),
    clientRegistration: fc.boolean(),
    perWorkloadConfigResolution: fc.boolean(),
  }),
  config: fc.record({
    authBridge: fc.record({ mode: fc.constantFrom('envoy-sidecar' as const, 'proxy-sidecar' as const) }),
    clientRegistration: fc.record({ mode: fc.constantFrom('operator' as const, 'sidecar' as const) }),
    proxy: fc.record({
      outboundPort: fc.integer({ min: 1024, max: 65000 }),
      adminPort: fc.constantFrom(9901, 15123, 15124),
    }),
  }),
  runtime: fc.constantFrom(r0(), r0({ mtlsMode: 'disabled' }), r0({ authBridgeMode: 'proxy-sidecar' })),
  csiDriver: fc.boolean(),
  nativeSidecars: fc.boolean(),
});

/** Where nothing redirects, the user's containers are told of their proxy. */
const told = /^(?:https?_proxy|no_proxy|NODE_USE_ENV_PROXY)$/i;

function untold({ env = [], ...container }: Container, original: Pod): Container {
  const before = allContainers(original).find(({ name }) => name === container.name)?.env;
  const own = env.filter(({ name }) => !told.test(name));
  return before === undefined && own.length === 0 ? container : { ...container, env: own };
}

/** The pod without what we add. */
function stripped(injected: Pod, original: Pod): unknown {
  const { initContainers, containers, volumes, ...spec } = injected.spec;
  const { annotations, ...metadata } = injected.metadata;
  const foreign = (list: readonly Container[]) =>
    list.filter(({ name }) => !ourContainers.includes(name)).map((each) => untold(each, original));
  const kept = Object.fromEntries(Object.entries(annotations ?? {}).filter(([key]) => !ourAnnotations.includes(key)));
  return {
    ...injected,
    metadata: { ...metadata, ...(original.metadata.annotations && { annotations: kept }) },
    spec: {
      ...spec,
      containers: foreign(containers),
      ...(original.spec.initContainers && { initContainers: foreign(initContainers ?? []) }),
      ...(original.spec.volumes && { volumes: (volumes ?? []).filter(({ name }) => !name.startsWith('rossoctl-')) }),
    },
  };
}

const isTold = ({ spec }: Pod) => spec.containers.some(({ env = [] }) => env.some(({ name }) => told.test(name)));

test('PM-03 PM-05 PM-10 for any pod: injecting twice equals once, foreign content stays, and the result is a valid pod', () => {
  let mutated = 0;
  fc.assert(
    fc.property(parts, (given) => {
      const { verdict } = judged(given);
      if (verdict.kind !== 'mutate') return;
      mutated += 1;
      const again = judged({ ...given, pod: verdict.object }).verdict;
      assert.deepEqual([again.kind, again.reason], ['allow', 'AlreadyInjected']);
      assert.deepEqual(structuredClone(stripped(verdict.object, given.pod)), structuredClone(given.pod));
      assert.deepEqual(structureFaults(verdict.object), []);
      assert.deepEqual(portClashes(verdict.object, ourContainers), []);
      const sidecars = allContainers(verdict.object).filter(
        ({ name }) => ourContainers.includes(name) && name !== 'proxy-init',
      );
      assert.deepEqual(sidecars.flatMap(restrictedFaults), []);
      for (const [at, own] of given.pod.spec.containers.entries())
        assert.ok(verdict.object.spec.containers[at] === own || isTold(verdict.object));
    }),
    { numRuns: 400 },
  );
  assert.ok(mutated > 100, `only ${mutated} pods were injected`);
});

test('PM-05 for any pod: the patch gives the injected pod by an independent RFC 6902 implementation', () => {
  fc.assert(
    fc.property(parts, (given) => {
      const { verdict } = judged(given);
      // fast-json-patch refuses `__proto__` as a path; the engine's own tests cover it.
      if (verdict.kind !== 'mutate' || Object.hasOwn(given.pod.metadata.annotations ?? {}, '__proto__')) return;
      const operations = jsonPatch(given.pod, verdict.object);
      const applied = jsonpatch.applyPatch(
        structuredClone(given.pod),
        structuredClone(operations) as never,
        true,
      ).newDocument;
      assert.deepEqual(applied, structuredClone(verdict.object));
    }),
    { numRuns: 200 },
  );
});

test('any JSON in place of a pod is judged without an exception', () => {
  fc.assert(
    fc.property(json, json, json, (metadata, spec, labels) => {
      const object = { apiVersion: 'v1', kind: 'Pod', metadata: metadata ?? {}, spec } as never;
      assert.ok(['allow', 'deny'].includes(judged({ pod: object }).verdict.kind));
      const labelled = {
        ...p0(),
        metadata: { labels },
        spec: { containers: [{ name: 'a', env: spec, ports: metadata }] },
      } as never;
      assert.ok(judged({ pod: labelled }).verdict.kind.length > 0);
    }),
    { numRuns: 500 },
  );
});
