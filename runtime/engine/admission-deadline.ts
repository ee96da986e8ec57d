/** By when an admission request must be answered. */

/** When the API server does not say how long it waits; its own default is 10 s. */
const defaultMs = 8_000;
const shortestMs = 50;
const unitsMs: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1_000,
  ms: 1,
  us: 0.001,
  µs: 0.001,
  ns: 0.000_001,
};

/**
 * Milliseconds, from the `timeout` query parameter that the API server sends (`10s`, Go's form), less a tenth or 250 ms,
 * whichever is more, for the way back. Default 8,000; a timeout that cannot be read counts as absent.
 */
export function deadlineFrom(timeout: string | undefined): number {
  const ms = durationMs(timeout ?? '');
  return ms === undefined ? defaultMs : Math.max(shortestMs, ms - Math.max(250, ms / 10));
}

function durationMs(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(h|ms|m|s|us|µs|ns))+$/.test(text) || text.length > 40) return undefined;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(/([\d.]+)(h|ms|m|s|us|µs|ns)/g))
    sum += Number(amount) * (unitsMs[unit ?? ''] ?? 0);
  return sum > 0 ? sum : undefined;
}
