/** Says what the demo waits for, so that nobody wonders whether it still runs. */

/** Resolves as `work` does. On standard error: what it is, after two seconds and then every ten. */
export async function reported<T>(what: string, work: Promise<T>): Promise<T> {
  const began = performance.now();
  const say = (): void => {
    process.stderr.write(`   … ${what} (${((performance.now() - began) / 1000).toFixed(0)} s)\n`);
    timer = setTimeout(say, 10_000);
  };
  let timer = setTimeout(say, 2_000);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}
