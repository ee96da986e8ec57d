/** Shares the container's memory: how much of it Envoy may allocate. */

const mebibyte = 1024 * 1024;

/** MiB of a container that has no limit. */
const unlimited = 1_024;
/** Part that the processor's JavaScript heap may take: the flag `--max-old-space-size-percentage` of the image says the same. */
export const processorPart = 0.3125;
/** MiB of programs and of what is no heap: Envoy's own, Node's, and the kernel's for sockets, which counts as the container's too. */
const programs = 150;
/** MiB. With less Envoy refuses everything at once. */
const least = 24;

/** MiB for Envoy's heap; `limitBytes` as `process.constrainedMemory()` tells it, where 0 or more than any machine has is no limit. */
export function envoyHeapMiB(limitBytes: number): number {
  const limit = limitBytes > 0 && limitBytes < 2 ** 50 ? limitBytes / mebibyte : unlimited;
  return Math.max(least, Math.floor(limit * (1 - processorPart) - programs));
}
