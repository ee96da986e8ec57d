/** The documents received last: small ones are kept as long as their card, large ones while there is room for them. */

export interface Bodies {
  /** In place of the one before. */
  put(uid: string, body: Uint8Array): void;
  get(uid: string): Uint8Array | undefined;
  drop(uid: string): void;
  clear(): void;
  /** Bytes held. */
  readonly size: number;
}

/** Up to this size a body is always kept. */
const smallBytes = 65_536;

/** `roomBytes`: for all the larger ones together; the newest stay, and the newest one alone may be larger than all of it. */
export function createBodies(roomBytes: number): Bodies {
  /** The oldest first. */
  const bodies = new Map<string, Uint8Array>();
  const large = new Set<string>();
  let size = 0;
  let largeSize = 0;

  function drop(uid: string): void {
    const length = bodies.get(uid)?.length ?? 0;
    bodies.delete(uid);
    size -= length;
    if (large.delete(uid)) largeSize -= length;
  }

  function put(uid: string, body: Uint8Array): void {
    drop(uid);
    bodies.set(uid, body);
    size += body.length;
    if (body.length <= smallBytes) return;
    large.add(uid);
    largeSize += body.length;
    for (const oldest of large) {
      if (largeSize <= roomBytes || oldest === uid) return;
      drop(oldest);
    }
  }

  return {
    put,
    get: (uid) => bodies.get(uid),
    drop,
    clear: () => {
      for (const uid of bodies.keys()) drop(uid);
    },
    get size() {
      return size;
    },
  };
}
