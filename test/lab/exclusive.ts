// Lets one process at a time do a piece of work; the claim ends with the process that holds it.
import { createHash } from 'node:crypto';
import { unlinkSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const retryMs = 100;

/** Runs `work` while no other process of this machine runs work under the same subject; `onWait` is called once. */
export async function exclusively<T>(subject: string, onWait: () => void, work: () => Promise<T>): Promise<T> {
  const claim = await claimSubject(subject, onWait);
  try {
    return await work();
  } finally {
    await new Promise<void>((done) => {
      claim.close(() => done());
    });
  }
}

/** Claims the subject for as long as this process lives; false when another process, or this one, holds it. */
export async function claimForLife(subject: string): Promise<boolean> {
  return (await listen(claimAddress(subject))) !== undefined;
}

async function claimSubject(subject: string, onWait: () => void): Promise<Server> {
  const address = claimAddress(subject);
  for (let attempt = 0; ; attempt += 1) {
    const server = await listen(address);
    if (server !== undefined) return server;
    if (attempt === 1) onWait();
    await removeAbandoned(address);
    await sleep(retryMs);
  }
}

// A listening socket is released by the kernel when its process ends, however it ends. Linux has an abstract
// name space for it (unix(7)); elsewhere it is a file, which outlives a killed process and is then removed.
function claimAddress(subject: string): string {
  const digest = createHash('sha256').update(subject).digest('hex').slice(0, 24);
  return process.platform === 'linux' ? `\0rossoctl-lab-${digest}` : join(tmpdir(), `rossoctl-lab-${digest}.sock`);
}

function listen(address: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen(address, () => {
      server.unref();
      resolve(server);
    });
  });
}

async function removeAbandoned(address: string): Promise<void> {
  if (address.startsWith('\0')) return;
  const isAbandoned = await new Promise<boolean>((resolve) => {
    const socket = connect(address);
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
  });
  if (isAbandoned) unlinkSync(address);
}
