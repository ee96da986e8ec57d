/** Ends a TCP connection at once, in whatever state it is. */

import type { Socket } from 'node:net';

/** By a reset; one that has said goodbye already can only be closed: Node leaves it open for ever when it is reset then, and itself with it. */
export function cutSocket(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
