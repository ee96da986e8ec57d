/** Every mistake that AgentPlatform refuses, with the construct, the prop and what to do. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { AgentPlatform, NamespaceDefaults } from '../../constructs/index.ts';
import { platform } from './synthesized.ts';

const refused: readonly (readonly [what: string, act: () => unknown, says: RegExp])[] = [
  [
    'an empty image',
    () => platform({ image: '' }),
    /\[test\/rossoctl\] image: "" is not allowed; must be text .*Image/,
  ],
  ['a blank in the image', () => platform({ image: 'a b' }), /image: "a b" is not allowed/],
  ['no image', () => platform({ image: undefined } as object), /\[test\/rossoctl\] image: is missing; must be text/],
  [
    'an image that was never set',
    () => platform({ image: 'a:undefined' }),
    /\[test\/rossoctl\] image: "a:undefined" ends in undefined: a variable that it is made of is not set/,
  ],
  ['no replica', () => platform({ replicas: 0 }), /replicas: 0 is not allowed; must be a whole number from 1 to 100/],
  ['half a replica', () => platform({ replicas: 1.5 }), /replicas: 1.5/],
  [
    'an own namespace that cannot be',
    () => platform({ namespace: 'a.b' }),
    /\[test\/rossoctl\] namespace: "a\.b" is not/,
  ],
  [
    'an account that would change the policies',
    () => platform({ serviceAccountName: 'a" || true || "' }),
    /\[test\/rossoctl\] serviceAccountName: .* is not allowed; must .*Name of an object/,
  ],
  ['a Deployment that cannot be', () => platform({ deploymentName: '-x' }), /deploymentName: "-x" is not allowed/],
  [
    'a log level that is none',
    () => platform({ logLevel: 'trace' } as object),
    /logLevel: "trace" .* one of debug, info/,
  ],
  [
    'certificates of nobody',
    () => platform({ certificates: 'me' } as object),
    /certificates: "me" .* self-managed, cert-m/,
  ],
  [
    'a pull policy that is none',
    () => platform({ imagePullPolicy: 'No' } as object),
    /imagePullPolicy: "No" .* one of Alwa/,
  ],
  [
    'no requests',
    () => platform({ apiRequests: { qps: 0 } }),
    /apiRequests\.qps: 0 is not allowed; must be a number from 1/,
  ],
  ['no burst', () => platform({ apiRequests: { burst: -1 } }), /apiRequests\.burst: -1 is not allowed/],
  ['an unknown prop', () => platform({ loglevel: 'info' } as object), /loglevel: unknown key; did you mean logLevel\?/],
  [
    'a network that follows verdicts which nobody gives',
    () => platform({ networkPolicies: { enforce: true } }),
    /\[test\/rossoctl\] networkPolicies\.enforce: needs verified signatures: .*none could reach another; set verification\.requireSignature: true/,
  ],
  [
    'the same, said outright',
    () => platform({ verification: { requireSignature: false }, networkPolicies: { enforce: true } }),
    /networkPolicies\.enforce: needs verified signatures/,
  ],
  [
    'an audit of verdicts which nobody gives',
    () => platform({ verification: { audit: true } }),
    /\[test\/rossoctl\] verification\.audit: .*without requireSignature there are none; set verification\.requireSignature/,
  ],
  [
    'a trust domain with its scheme',
    () => platform({ verification: { trustDomain: 'spiffe://prod.example' } }),
    /verification\.trustDomain: "spiffe:\/\/prod\.example" is not allowed/,
  ],
  [
    'a bundle in a namespace that cannot be',
    () => platform({ verification: { trustBundle: { namespace: 'a.b' } } }),
    /verification\.trustBundle\.namespace: "a\.b" is not allowed/,
  ],
  [
    'a bundle under a key that cannot be',
    () => platform({ verification: { trustBundle: { key: 'a/b' } } }),
    /verification\.trustBundle\.key: "a\/b" is not allowed/,
  ],
  [
    'forms of a payload that are none',
    () => platform({ verification: { profiles: 'jws' } } as object),
    /verification\.profiles: "jws" .* one of all, jcs/,
  ],
  [
    'a verdict that ends before it begins',
    () => platform({ verification: { syncPeriods: 0 } }),
    /verification\.syncPeriods: 0 is not allowed; must be a number from 1/,
  ],
  ['no fetch at once', () => platform({ cardFetches: { atOnce: 0 } }), /cardFetches\.atOnce: 0 is not allowed/],
  [
    'an unknown word about signatures',
    () => platform({ verification: { requireSignatures: true } } as object),
    /verification\.requireSignatures: unknown key; did you mean requireSignature\?/,
  ],
  [
    'a scope that is none',
    () => platform({ watch: { kind: 'bogus' } } as object),
    /watch\.kind: "bogus" .* one of cluster/,
  ],
  ['no scope', () => platform({ watch: null } as object), /\[test\/rossoctl\] watch: has no value/],
  [
    'a list that is missing',
    () => platform({ watch: { kind: 'namespaced' } } as object),
    /watch\.namespaces: is missing/,
  ],
  [
    'a namespace that cannot be',
    () => platform({ watch: { kind: 'namespaced', namespaces: ['Team_1'] } }),
    /\[test\/rossoctl\] watch\.namespaces\[0\]: "Team_1" is not allowed; must .*Name of a namespace/,
  ],
  [
    'a system namespace',
    () => platform({ watch: { kind: 'namespaced', namespaces: ['team1', 'kube-system'] } }),
    /watch\.namespaces\[1\]: kube-system is Kubernetes' own namespace, where no pod is ever injected: leave it out/,
  ],
  [
    'the operator’s own namespace',
    () => platform({ namespace: 'op', watch: { kind: 'namespaced', namespaces: ['op'] } }),
    /watch\.namespaces\[0\]: op is the operator's own namespace, where no pod is ever injected: leave it out/,
  ],
  [
    'one more namespace that is none',
    () => platform({ watch: { kind: 'namespaced', namespaces: ['a'] } }, (made) => made.watchNamespace('B')),
    /\[test\/rossoctl\] watchNamespace: "B" is not allowed/,
  ],
  [
    'two platforms in one app',
    () => platform({}, (_, chart) => new AgentPlatform(chart, 'other', { image: 'i', namespace: 'other' })),
    /\[test\/other\] the app already has an AgentPlatform at test\/rossoctl: a cluster has one/,
  ],
  [
    'defaults for the operator’s own namespace',
    () => platform({}, (made, chart) => new NamespaceDefaults(chart, 'd', { namespace: made.namespace, config: {} })),
    /\[test\/rossoctl\] test\/d sets defaults for the operator's own namespace rossoctl-system, .*: set config of/,
  ],
  [
    'two ports of the proxy that are one',
    () => platform({ config: { proxy: { inboundPort: 15000, outboundPort: 15000 } } }),
    /\[test\/rossoctl\/config\] ConfigMap .*: 15000 is also .*; each needs a port of its own/,
  ],
  [
    'a port of the proxy that is the default of another',
    () => platform({ config: { proxy: { adminPort: 15123 } } }),
    /proxy\.adminPort: 15123 is also proxy\.outboundPort \(compiled default\)/,
  ],
  [
    'namespaced mode without a namespace',
    () => platform({ watch: { kind: 'namespaced', namespaces: [] } }),
    /\[test\/rossoctl\] namespaced mode without a namespace: list one in watch\.namespaces or call watchNamespace/,
  ],
  [
    'watching one more namespace in cluster mode',
    () => platform({}, (made) => made.watchNamespace('team1')),
    /\[test\/rossoctl\] watchNamespace: cannot watch team1 .*: the platform watches every namespace; set watch/,
  ],
  [
    'an unknown configuration key',
    () => platform({ config: { spiffe: { trustDomian: 'x' } } as object }),
    /\[test\/rossoctl\/config\] ConfigMap rossoctl-system\/rossoctl-platform-config.*spiffe\.trustDomian: unknown key; did you mean trustDomain\?/,
  ],
  [
    'a trust domain of the configuration with its scheme',
    () => platform({ config: { spiffe: { trustDomain: 'spiffe://prod.example' } } }),
    /\[test\/rossoctl\/config\] ConfigMap .*spiffe\.trustDomain: "spiffe:\/\/prod\.example" is not allowed; .*without spiffe:\/\//,
  ],
  [
    'a gate that is text',
    () => platform({ featureGates: { injectTools: 'false' } as object }),
    /injectTools: .*write false without quotes/,
  ],
];
for (const [what, act, says] of refused) {
  test(`refused: ${what}`, () => {
    assert.throws(act, says);
  });
}
