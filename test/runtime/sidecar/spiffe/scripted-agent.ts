/** A Workload API over a real socket that answers as a test says: for what a real agent cannot be brought to do. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type handleServerStreamingCall, type handleUnaryCall, Server, ServerCredentials } from '@grpc/grpc-js';

export type Streams = handleServerStreamingCall<Buffer, Buffer>;
export type Once = handleUnaryCall<Buffer, Buffer>;
/** By name, such as `FetchX509SVID`. */
export type Methods = Readonly<Record<string, Streams | Once>>;

/** Serves until the test ends. Default socket: one of its own. */
export async function scriptedAgent(t: TestContext, methods: Methods, socketPath = join(folderIn(t), 'agent.sock')) {
  const server = new Server({ 'grpc.max_send_message_length': -1 });
  const same = (bytes: Buffer) => bytes;
  const definition = (name: string) => ({
    path: `/SpiffeWorkloadAPI/${name}`,
    requestStream: false,
    responseStream: name !== 'FetchJWTSVID',
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  });
  server.addService(Object.fromEntries(Object.keys(methods).map((name) => [name, definition(name)])), { ...methods });
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${socketPath}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    );
  });
  t.after(() => server.forceShutdown());
  return { socketPath };
}

/** A folder of the test's own, removed at its end. */
export function folderIn(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'spiffe-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
