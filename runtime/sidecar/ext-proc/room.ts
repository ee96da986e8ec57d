/** Bounds what is being decided at once, so that a flood of requests that wait for something does not take the processor's memory. */

export interface RoomOptions {
  /** Requests. Default 1,000. */
  readonly requests?: number;
  /** Bytes of their heads together. Default 16 MiB. */
  readonly bytes?: number;
}

export interface Room {
  /** Room for a request whose head has that many bytes: its release, to be called once, or undefined when there is none now. */
  take(bytes: number): (() => void) | undefined;
}

/** One direction's room: neither direction can take the other's. */
export function createRoom({ requests = 1_000, bytes: most = 16 * 1024 * 1024 }: RoomOptions = {}): Room {
  const taken = { requests: 0, bytes: 0 };
  return {
    take: (bytes) => {
      if (taken.requests >= requests || taken.bytes + bytes > most) return undefined;
      taken.requests += 1;
      taken.bytes += bytes;
      return () => {
        taken.requests -= 1;
        taken.bytes -= bytes;
      };
    },
  };
}
