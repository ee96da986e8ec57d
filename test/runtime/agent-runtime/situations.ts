/** Parts of observations that several tests share: broken layers, gates, places, levels of Pod Security. */

import type { Layers } from '../../../runtime/config/layers.ts';
import { noLayers, runtime } from './fixtures.ts';

export const layerSource = { layer: 'namespace', where: 'ConfigMap team1/defaults, key config.yaml' } as const;
export const broken = (kind: 'invalid' | 'unavailable'): Layers => ({
  ...noLayers,
  problems: [{ source: layerSource, kind, line: 3, message: 'ConfigMap team1/defaults, key config.yaml, line 3: bad' }],
});
export const gates = (values: Layers['gates'][number]['values']): Layers => ({
  ...noLayers,
  gates: [{ source: { layer: 'platform', where: 'gates' }, values }],
});
export const D0 = ['Deployment weather-agent'];
export const restricted = { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' }, isTerminating: false };
export const proxySidecar = runtime({ spec: { authBridgeMode: 'proxy-sidecar' } });
export const waiting = (waitedMs: number, isPaused = false) =>
  ({ kind: 'waiting', waitedMs, lookMs: 600_000, isPaused }) as const;
