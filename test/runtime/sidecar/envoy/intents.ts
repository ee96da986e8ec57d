/** Intents and identities that tests share: one of each shape that matters to Envoy. */

import type { Intent } from '../../../../runtime/sidecar/envoy/intent.ts';
import type { TlsIdentity } from '../../../../runtime/sidecar/envoy/secrets.ts';

export const plain: Intent = {
  node: { namespace: 'team1', pod: 'agent-1', uid: '0a1b' },
  ports: { inbound: 15124, outbound: 15123 },
  ipv6: false,
  mtls: 'disabled',
  accessLog: true,
};

export const intents: Readonly<Record<string, Intent>> = {
  plain,
  'mutual-tls': { ...plain, ipv6: true, mtls: 'strict' },
  explicit: { ...plain, ipv6: true, mtls: 'permissive', explicit: { application: 8080, isOutbound: true } },
  'explicit-inbound': { ...plain, explicit: { application: undefined, isOutbound: false } },
  quiet: {
    ...plain,
    accessLog: false,
    // One twice, and one of our own: each of them would be a second chain that matches alike.
    plainTcpPorts: [5432, 15123, 5432],
    limits: { connections: 500, idleSeconds: 60, processorSeconds: 3 },
  },
};

/** Not valid PEM: for what only carries it. */
export const identity: TlsIdentity = {
  chain: 'CHAIN',
  key: 'KEY',
  bundles: new Map([
    ['partner.test', 'PARTNER'],
    ['example.org', 'HOME'],
  ]),
};
