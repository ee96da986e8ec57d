/** A gRPC server with one method, on a Unix socket that only this user may use. */

import { chmodSync, rmSync } from 'node:fs';
import {
  type handleBidiStreamingCall,
  type MethodDefinition,
  Server,
  ServerCredentials,
  type ServerOptions,
} from '@grpc/grpc-js';

export interface GrpcServerOptions<Request, Response> {
  /** Path of the socket; what is there already is replaced. */
  readonly socket: string;
  readonly method: MethodDefinition<Request, Response>;
  readonly handler: handleBidiStreamingCall<Request, Response>;
}

export interface GrpcServer {
  /** Ends all calls at once and removes the socket. */
  close(): void;
}

/** Metadata of a proxied request's headers is what is largest here: far below this. */
const limits: ServerOptions = { 'grpc.max_receive_message_length': 4 * 1024 * 1024 };

/** Listens. Throws when the socket cannot be made, with its path. */
export async function serveGrpc<Request, Response>(options: GrpcServerOptions<Request, Response>): Promise<GrpcServer> {
  const { socket, method, handler } = options;
  const server = new Server(limits);
  server.addService({ method }, { method: handler });
  rmSync(socket, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(new Error(`no socket at ${socket}: ${error.message}`, { cause: error })),
    );
  });
  chmodSync(socket, 0o600);
  return {
    close: () => {
      server.forceShutdown();
      rmSync(socket, { force: true });
    },
  };
}
