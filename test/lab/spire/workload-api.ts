// A client of the SPIFFE Workload API: follows the X.509-SVIDs an agent gives this process, over its Unix socket.
import { connect, type IncomingHttpHeaders } from 'node:http2';
import { createConnection } from 'node:net';
import { readX509Svids, type X509Svid } from './x509-svid.ts';

/** An answer of the agent other than SVIDs. */
export class WorkloadApiError extends Error {
  /** The agent knows no entry for this process, or does not know it yet. */
  readonly isWithoutIdentity: boolean;

  constructor(message: string, isWithoutIdentity: boolean) {
    super(message);
    this.isWithoutIdentity = isWithoutIdentity;
  }
}

const permissionDenied = '7';

/** All SVIDs of this process, again at each change of one of them, until `signal`; throws `WorkloadApiError` when the agent ends it. */
export async function* followX509Svids(socketPath: string, signal: AbortSignal): AsyncGenerator<readonly X509Svid[]> {
  const session = connect('http://localhost', { createConnection: () => createConnection(socketPath) });
  // Each failure is told by the stream as well.
  session.on('error', () => {});
  try {
    const stream = session.request(
      {
        ':method': 'POST',
        ':path': '/SpiffeWorkloadAPI/FetchX509SVID',
        'content-type': 'application/grpc',
        te: 'trailers',
        'workload.spiffe.io': 'true',
      },
      { signal },
    );
    let end: IncomingHttpHeaders = {};
    stream.on('response', (headers) => (end = headers));
    stream.on('trailers', (trailers) => (end = trailers));
    stream.end(emptyMessage);
    for await (const message of messagesOf(stream)) yield readX509Svids(message);
    const words = decodeURIComponent(String(end['grpc-message'] ?? 'it ended'));
    throw new WorkloadApiError(`the Workload API: ${words}`, end['grpc-status'] === permissionDenied);
  } finally {
    session.destroy();
  }
}

// gRPC over HTTP/2: each message has a flag for its compression and its length in front.
const prefixLength = 5;
const emptyMessage = Buffer.alloc(prefixLength);

async function* messagesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= prefixLength && rest.length >= prefixLength + rest.readUInt32BE(1)) {
      const end = prefixLength + rest.readUInt32BE(1);
      yield rest.subarray(prefixLength, end);
      rest = rest.subarray(end);
    }
  }
}
