/** A gRPC method by its descriptor, as grpc-js wants it to serve or to call. */

import { fromBinary, type Message, toBinary } from '@bufbuild/protobuf';
import type { MethodDefinition } from '@grpc/grpc-js';
import { serviceOf } from '../../wire/registry.ts';

/** The method of that name (`StreamAggregatedResources`); throws for one the service does not have. */
export function methodOf<Request, Response>(service: string, name: string): MethodDefinition<Request, Response> {
  const method = serviceOf(service).methods.find((each) => each.name === name);
  if (method === undefined) throw new Error(`service ${service} has no method ${name}`);
  const { input, output, methodKind } = method;
  const read =
    <T>(type: typeof input) =>
    (bytes: Buffer): T =>
      fromBinary(type, bytes) as T;
  const write = (type: typeof input) => (message: unknown) => Buffer.from(toBinary(type, message as Message));
  return {
    path: `/${service}/${name}`,
    requestStream: methodKind === 'client_streaming' || methodKind === 'bidi_streaming',
    responseStream: methodKind === 'server_streaming' || methodKind === 'bidi_streaming',
    requestSerialize: write(input),
    requestDeserialize: read<Request>(input),
    responseSerialize: write(output),
    responseDeserialize: read<Response>(output),
  };
}
