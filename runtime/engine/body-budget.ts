/** Bounds the memory that request bodies may take together, without letting large ones keep small ones out. */

export interface BodyBudget {
  /** Room for a body of this many bytes: its release, or undefined when there is none now. */
  take(bytes: number): (() => void) | undefined;
}

/** Ordinary reviews are smaller; a thousand connections' worth of them fits into any container. */
const alwaysFits = 64 * 1024;

/** Bodies up to 64 KiB always fit; larger ones share `totalBytes`. */
export function bodyBudget(totalBytes: number): BodyBudget {
  let taken = 0;
  return {
    take: (bytes) => {
      if (bytes <= alwaysFits) return () => {};
      if (taken + bytes > totalBytes) return undefined;
      taken += bytes;
      let isHeld = true;
      return () => {
        if (isHeld) taken -= bytes;
        isHeld = false;
      };
    },
  };
}
