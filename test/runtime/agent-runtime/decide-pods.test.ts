/** Decisions about pods: identity, switches that turn injection off, pods without sidecars. */

import { expectRows } from './decide-rows.ts';
import { labels } from '../../../runtime/api/names.ts';
import { configuration, enrolledWorkload, noLayers, now, otherHash, pod, runtime } from './fixtures.ts';
import { gates, D0, proxySidecar } from './situations.ts';

expectRows([
  {
    reason: 'no CSI driver: enrolled without an identity',
    given: { hasCsiDriver: false },
    phase: 'Active',
    says: ['SpiffeReady=False/SpiffeUnavailable', 'Ready=True/Configured'],
    applies: D0,
    events: ['Configured'],
  },
  {
    reason: 'mode proxy-sidecar: said that nothing forces traffic through the proxy',
    given: { runtime: proxySidecar, configuration: configuration(noLayers, proxySidecar) },
    phase: 'Active',
    says: ['TrafficCaptured=False/ExplicitProxy', 'Ready=True/Configured'],
    applies: D0,
    events: ['Configured'],
  },
  {
    reason: 'mode proxy-sidecar without the proxy: nothing is said of it',
    given: { runtime: proxySidecar, configuration: configuration(gates({ envoyProxy: false }), proxySidecar) },
    phase: 'Active',
    says: ['Ready=True/Configured'],
    lacks: ['TrafficCaptured'],
    applies: D0,
  },
  {
    reason: 'the gate spiffeHelper off',
    given: { configuration: configuration(gates({ spiffeHelper: false })), target: { found: enrolledWorkload() } },
    phase: 'Active',
    says: ['SpiffeReady=False/SpiffeDisabled'],
  },
  {
    reason: 'the kill switch: enrolled, and said that nothing is injected',
    given: { configuration: configuration(gates({ globalEnabled: false })) },
    phase: 'Active',
    says: ['PodsInjected=False/InjectionOff', 'SpiffeReady=False/SpiffeDisabled', 'Ready=True/Configured'],
    applies: D0,
  },
  {
    reason: 'the opt-out label on the template',
    given: {
      target: { found: enrolledWorkload({ templateLabels: { [labels.inject]: 'disabled' } }) },
      pods: [pod('a', { isInjected: false })],
    },
    phase: 'Active',
    says: ['PodsInjected=False/InjectionOff'],
  },
  {
    reason: 'a tool without injectTools',
    given: { runtime: runtime({ spec: { type: 'tool' } }) },
    phase: 'Active',
    says: ['PodsInjected=False/InjectionOff'],
    applies: D0,
  },
  {
    reason: 'a namespace that does not take part, when the install asks for it',
    given: { needsEnabledNamespace: true },
    phase: 'Active',
    says: ['PodsInjected=False/InjectionOff'],
    applies: D0,
  },
  {
    reason: 'AD-03 bare pods are named',
    given: {
      target: { found: enrolledWorkload() },
      pods: [pod('b', { isInjected: false }), pod('a', { isInjected: false }), pod('c')],
    },
    phase: 'Active',
    says: ['PodsInjected=False/PodsWithoutSidecars'],
    events: ['Configured', 'PodsWithoutSidecars'],
  },
  {
    reason: 'a pod with an older hash, nothing rolling',
    given: { target: { found: enrolledWorkload() }, pods: [pod('a', { hash: otherHash })] },
    phase: 'Active',
    says: ['PodsInjected=False/PodsOutdated'],
  },
  {
    reason: 'during a rollout pods with the defaults of another release are expected',
    given: {
      target: { found: enrolledWorkload({ rolling: true }) },
      pods: [pod('a', { hasOurDefaults: false, hash: otherHash, createdAt: now.toISOString() })],
    },
    phase: 'Active',
    says: ['PodsInjected=True/AllInjected'],
  },
  {
    reason: 'CF-03 a pod built with the defaults of another release is named, and nothing restarts it',
    given: { target: { found: enrolledWorkload() }, pods: [pod('a', { hasOurDefaults: false })] },
    phase: 'Active',
    says: ['PodsInjected=True/OlderDefaults'],
  },
  {
    reason: 'during a rollout older pods are expected',
    given: {
      target: { found: enrolledWorkload({ rolling: true }) },
      pods: [pod('a', { hash: otherHash, createdAt: now.toISOString() })],
    },
    phase: 'Active',
    says: ['PodsInjected=True/AllInjected'],
  },
]);
