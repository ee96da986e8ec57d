/** The section `networkPolicy` of the configuration: who may reach verified agents, where they may go, and where DNS is. */

import { Type } from 'typebox';
import { oneOf } from '../api/schema.ts';

const labelPart = '[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';
/** A label's key: an optional DNS name and a slash, then the name. */
export const labelKeyPattern = `^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?${labelPart}$`;

const LabelValue = Type.String({
  maxLength: 63,
  pattern: `^(${labelPart})?$`,
  description: 'A label’s value, of letters, digits, dashes, dots and underscores, for example team1.',
});

/** A Kubernetes label selector. An empty one selects everything. */
export const Selector = Type.Object({
  matchLabels: Type.Optional(
    Type.Unsafe<Readonly<Record<string, string>>>({
      type: 'object',
      maxProperties: 16,
      additionalProperties: LabelValue,
    }),
  ),
  matchExpressions: Type.Optional(
    Type.Array(
      Type.Object({
        key: Type.String({
          maxLength: 317,
          pattern: labelKeyPattern,
          description:
            'A label’s key, optionally with a DNS name and a slash before it, for example app.kubernetes.io/name.',
        }),
        operator: oneOf(['In', 'NotIn', 'Exists', 'DoesNotExist']),
        values: Type.Optional(Type.Array(LabelValue, { maxItems: 64 })),
      }),
      { maxItems: 16 },
    ),
  ),
});

const Cidr = Type.String({
  maxLength: 64,
  description: 'A range of addresses in CIDR notation, for example 10.0.0.0/8.',
});

const peer = {
  namespaceSelector: Type.Optional(Selector),
  podSelector: Type.Optional(Selector),
  ipBlock: Type.Optional(Type.Object({ cidr: Cidr, except: Type.Optional(Type.Array(Cidr, { maxItems: 64 })) })),
};

/** One side of a connection, as in a NetworkPolicy: selectors that hold together, or a range of addresses. */
export const Peer = Type.Object(peer);
export type Peer = Type.Static<typeof Peer>;

/** A peer, limited to ports where some are given. */
export const PeerOnPorts = Type.Object({
  ...peer,
  ports: Type.Optional(
    Type.Array(
      Type.Object({
        protocol: Type.Optional(oneOf(['TCP', 'UDP', 'SCTP'])),
        /** A number or a name; `peerViolations` looks at it. */
        port: Type.Optional(Type.Unsafe<number | string>({ description: 'A port’s number or name.' })),
        endPort: Type.Optional(Type.Integer({ minimum: 1, maximum: 65535 })),
      }),
      { maxItems: 64 },
    ),
  ),
});
export type PeerOnPorts = Type.Static<typeof PeerOnPorts>;

/** Where the cluster's DNS answers; see `docs/network-policies.md`. */
export const dnsProfiles = ['default', 'openshift', 'node-local', 'cloud-dns'] as const;
export type DnsProfile = (typeof dnsProfiles)[number];

export const NetworkPolicySection = Type.Object({
  /** Whom verified agents let in beside each other and the operator: peers as in a NetworkPolicy, each with `ports` where it is not all. */
  ingressFrom: Type.Array(PeerOnPorts, { maxItems: 32 }),
  /** Whom verified agents reach with `verifiedEgress: agents`, beside each other, DNS and the operator. */
  egressTo: Type.Array(PeerOnPorts, { maxItems: 32 }),
  /** `open`: verified agents reach everything. `agents`: only each other, DNS, the operator and `egressTo`. */
  verifiedEgress: oneOf(['open', 'agents']),
  dns: Type.Object({
    /** Where the cluster's DNS answers. */
    profile: oneOf(dnsProfiles),
    /** More peers that are DNS. */
    peers: Type.Array(Peer, { maxItems: 32 }),
  }),
});
export type NetworkPolicySection = Type.Static<typeof NetworkPolicySection>;

export const networkPolicyDefaults: NetworkPolicySection = {
  ingressFrom: [],
  egressTo: [],
  verifiedEgress: 'open',
  dns: { profile: 'default', peers: [] },
};
