/** The documents received last, while there is room for them: small ones have a room of their own, so that none is driven out by large ones. */

export interface Bodies {
  /** In place of the one before. */
  put(uid: string, body: Uint8Array): void;
  get(uid: string): Uint8Array | undefined;
  drop(uid: string): void;
  clear(): void;
  /** Bytes held. */
  readonly size: number;
}

/** Up to this size a body is small. */
const smallBytes = 65_536;

/** How much more room the small ones have together. */
const smallRooms = 4;

interface Room {
  readonly bytes: number;
  /** The oldest first. */
  readonly bodies: Map<string, Uint8Array>;
  size: number;
}

/** `roomBytes`: for the larger ones together, and four times as much for the small; the newest stay, and the newest one alone may be larger than all of its room. */
export function createBodies(roomBytes: number): Bodies {
  const small: Room = { bytes: smallRooms * roomBytes, bodies: new Map(), size: 0 };
  const large: Room = { bytes: roomBytes, bodies: new Map(), size: 0 };
  const rooms = [small, large];

  function drop(uid: string): void {
    for (const room of rooms) {
      room.size -= room.bodies.get(uid)?.length ?? 0;
      room.bodies.delete(uid);
    }
  }

  function put(uid: string, body: Uint8Array): void {
    drop(uid);
    const room = body.length <= smallBytes ? small : large;
    room.bodies.set(uid, body);
    room.size += body.length;
    for (const oldest of room.bodies.keys()) {
      if (room.size <= room.bytes || oldest === uid) return;
      drop(oldest);
    }
  }

  return {
    put,
    get: (uid) => small.bodies.get(uid) ?? large.bodies.get(uid),
    drop,
    clear: () => {
      for (const { bodies } of rooms) for (const uid of bodies.keys()) drop(uid);
    },
    get size() {
      return small.size + large.size;
    },
  };
}
