/** Feature gates: platform-wide switches that no namespace and no AgentRuntime can override. */

import { Type } from 'typebox';

export const FeatureGates = Type.Object({
  globalEnabled: Type.Boolean({ description: 'Kill switch: false stops all injection, whatever the others say.' }),
  envoyProxy: Type.Boolean({ description: 'Inject envoy-proxy and proxy-init.' }),
  spiffeHelper: Type.Boolean({ description: 'Give pods a SPIFFE identity.' }),
  clientRegistration: Type.Boolean({ description: 'Give pods OAuth client credentials.' }),
  injectTools: Type.Boolean({ description: 'Inject workloads of type tool as well.' }),
  perWorkloadConfigResolution: Type.Boolean({
    description: 'Resolve configuration to literals at admission instead of references.',
  }),
  skillDiscovery: Type.Boolean({ description: 'Report the skills that workloads declare.' }),
});
/** Each gate, on or off. */
export type FeatureGates = Type.Static<typeof FeatureGates>;
export type GateName = keyof FeatureGates;

export const gateDefaults: FeatureGates = Object.freeze({
  globalEnabled: true,
  envoyProxy: true,
  spiffeHelper: true,
  clientRegistration: true,
  injectTools: false,
  perWorkloadConfigResolution: false,
  skillDiscovery: false,
});
