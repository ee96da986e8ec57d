/** Kubernetes quantities as numbers, for comparing a request with its limit. */

const factors: Readonly<Record<string, number>> = {
  '': 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** `50m` → 0.05, `2e3` → 2000; `undefined` for what is no quantity. Inexact in the last digits: compare with `isAbove`. */
export function quantity(text: string): number | undefined {
  const parts = /^([0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)([A-Za-z]*)$/.exec(text);
  const factor = factors[parts?.[2] ?? ''];
  return parts === null || factor === undefined ? undefined : Number(parts[1]) * factor;
}

/** The share by which two spellings of one quantity may differ as doubles: 700m and 0.7. */
const roundingError = 1e-12;

/** True when the first quantity is more than the second; false when either is none. */
export function isAbove(first: string, second: string): boolean {
  const [a, b] = [quantity(first), quantity(second)];
  return a !== undefined && b !== undefined && a > b * (1 + roundingError);
}
