/** Keeps a server's connections few, however many are opened: the newest stay, the oldest go. */

import type { Server, Socket } from 'node:net';

export interface ConnectionLimits {
  /** Most open at once. */
  readonly total: number;
  /** Most of one address. */
  readonly perSource: number;
}

/**
 * Ends the oldest connection of an address that has too many, or the oldest of all. Not the newest: who asks in a moment and goes, as a kubelet
 * does, gets in then, also from an address that it shares with whoever fills the port.
 */
export function keepNewest(server: Server, { total, perSource }: ConnectionLimits): void {
  const open = new Map<Socket, string>();
  server.on('connection', (socket: Socket) => {
    const source = socket.remoteAddress ?? '';
    open.set(socket, source);
    socket.once('close', () => open.delete(socket));
    const same = [...open].filter(([, from]) => from === source);
    if (same.length > perSource) same[0]?.[0].destroy();
    else if (open.size > total) [...open.keys()][0]?.destroy();
  });
}
