/** Times one function in this process, many times over, after it has become fast. */

/** Microseconds a call: the median of several rounds, each as long as `rounds` asks. */
export function microseconds(calls: number, work: () => unknown): number {
  for (let call = 0; call < calls; call++) work();
  const rounds = Array.from({ length: 7 }, () => {
    const begun = performance.now();
    for (let call = 0; call < calls; call++) work();
    return ((performance.now() - begun) * 1000) / calls;
  });
  return rounds.sort((a, b) => a - b)[3] ?? Number.NaN;
}
