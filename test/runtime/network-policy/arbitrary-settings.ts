/** Sections `networkPolicy` as fast-check makes them up: some of them are refused by the configuration, which the caller leaves out. */

import * as fc from 'fast-check';
import { dnsProfiles, type NetworkPolicySection } from '../../../runtime/config/network-policy.ts';

const word = fc.constantFrom('a', 'app', 'tier', 'k8s-app');
const operator = {
  withValues: fc.constantFrom('In', 'NotIn'),
  alone: fc.constantFrom('Exists', 'DoesNotExist'),
};
const expression = fc.oneof(
  fc.record({ key: word, operator: operator.withValues, values: fc.array(word, { minLength: 1, maxLength: 2 }) }),
  fc.record({ key: word, operator: operator.alone, values: fc.constantFrom([], undefined) }),
);
const selector = fc.record(
  {
    matchLabels: fc.dictionary(word, word, { maxKeys: 2 }),
    matchExpressions: fc.array(expression, { maxLength: 2 }),
  },
  { requiredKeys: [] },
);
const range = fc.record({ cidr: fc.constantFrom('10.0.0.0/8', 'fd00::/8'), except: fc.constantFrom([], undefined) });
const peer = fc.oneof(
  fc.record({ namespaceSelector: selector, podSelector: selector }, { requiredKeys: [] }),
  fc.record({ ipBlock: range }),
);
const port = fc.record(
  { protocol: fc.constantFrom('TCP', 'UDP'), port: fc.oneof(fc.integer({ min: 1, max: 65535 }), fc.constant('http')) },
  { requiredKeys: [] },
);
const ports = fc.array(port, { minLength: 1, maxLength: 2 });
const peers = fc.array(
  fc.oneof(
    peer,
    fc.tuple(peer, ports).map(([each, on]) => ({ ...each, ports: on })),
  ),
  {
    maxLength: 3,
  },
);

export const arbitrarySettings = fc.record({
  ingressFrom: peers,
  egressTo: peers,
  verifiedEgress: fc.constantFrom('open', 'agents'),
  dns: fc.record({ profile: fc.constantFrom(...dnsProfiles), peers: fc.array(peer, { maxLength: 2 }) }),
}) as fc.Arbitrary<NetworkPolicySection>;
