// Shows on standard error what the lab is doing and how long each step took.

/** Receives one line for a person to read. */
export type Report = (line: string) => void;

/** Writes progress lines to standard error, so that standard output stays for results. */
export const reportToStderr: Report = (line) => {
  process.stderr.write(`${line}\n`);
};

/** Drops progress lines. */
export const reportNothing: Report = () => {};

/** Seconds since `startMs`, with one decimal. */
export function secondsSince(startMs: number): string {
  return `${((performance.now() - startMs) / 1000).toFixed(1)} s`;
}

/** Runs one step and reports its name with the seconds it took. */
export async function timed<T>(report: Report, step: string, run: () => Promise<T>): Promise<T> {
  const startMs = performance.now();
  const result = await run();
  report(`  ${step.padEnd(44)} ${secondsSince(startMs)}`);
  return result;
}
