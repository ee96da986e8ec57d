/** What the public Go operator was measured at on the same work: its published state of June 2026, two shared cores, no leader election. */

export const peer = {
  admission: {
    1: { perSecond: 58, p50: 15.9, p99: 32, cpuMs: 7.3 },
    8: { perSecond: 130, p50: 59, p99: 120, cpuMs: 5.6 },
    32: { perSecond: 144, p50: 217, p99: 354, cpuMs: 5.3 },
    requestsEach: 6,
  },
  pods: { injected: { 1: 35, 8: 71 }, plain: { 1: 231, 8: 604 }, p50: { 1: 28, 8: 107 } },
  enrol: { seconds: 36, requestsUntilReady: 11.3, requestsInAll: 18, cpuSeconds: 22.1, p50: 28_000 },
  change: { seconds: 12.8, requestsInAll: 15, cpuSeconds: 12.9 },
  restart: { admission: 0.4, requests: 7, cpuSeconds: 3, writes: 1_500 },
  start: { admission: 0.17, ready: 0.06 },
  idle: { cpuPercent: 0.07, writes: 0 },
  memory: { empty: 58, fleet: 85, underLoad: 113 },
} as const;
