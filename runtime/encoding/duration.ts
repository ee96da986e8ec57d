/** Durations as Go and Kubernetes write them: `30s`, `5m`, `1h30m`, `500ms`. */

/** What `parseDuration` takes, as a pattern for schemas. */
export const durationPattern = '^([0-9]{1,9}(\\.[0-9]{1,9})?(ms|s|m|h))+$';

const unitMs: Readonly<Record<string, number>> = Object.freeze({ ms: 1, s: 1000, m: 60_000, h: 3_600_000 });

/** Milliseconds; `undefined` for anything that is no such duration. */
export function parseDuration(text: string): number | undefined {
  if (text.length > 64 || !new RegExp(durationPattern).test(text)) return undefined;
  const parts = [...text.matchAll(/([0-9.]+)(ms|s|m|h)/g)];
  return parts.reduce((sum, [, number, unit]) => sum + Number(number) * (unitMs[unit ?? ''] ?? 0), 0);
}
