/** The messages of the protocols the sidecar speaks (Envoy's xDS and ext_proc, the SPIFFE Workload API), by their full names. */

import { gunzipSync } from 'node:zlib';
import {
  createFileRegistry,
  type DescMessage,
  type DescService,
  fromBinary,
  fromJson,
  type JsonValue,
  type Message,
  toBinary,
} from '@bufbuild/protobuf';
import { type Any, anyPack, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { descriptors } from '../../../imports/protocols.ts';

/** Every message, enum and service of `imports/protocols.ts`. */
export const registry = createFileRegistry(
  fromBinary(FileDescriptorSetSchema, gunzipSync(Buffer.from(descriptors, 'base64'))),
);

/** A message's descriptor by its full name, such as `envoy.config.listener.v3.Listener`; throws for a name that `scripts/protocols` leaves out. */
export function messageOf(name: string): DescMessage {
  const found = registry.getMessage(name);
  if (found === undefined) throw new Error(`no message ${name}: add its file to scripts/protocols/main.go`);
  return found;
}

/** A service's descriptor by its full name, such as `SpiffeWorkloadAPI`; throws likewise. */
export function serviceOf(name: string): DescService {
  const found = registry.getService(name);
  if (found === undefined) throw new Error(`no service ${name}: add its file to scripts/protocols/main.go`);
  return found;
}

/** A message from Envoy's own JSON (`@type` for what is packed, "5s" for a duration); throws for a field that does not exist, with its name. */
export function messageFrom(name: string, json: JsonValue): Message {
  return fromJson(messageOf(name), json, { registry });
}

/** The same, packed as xDS resources are. */
export function packed(name: string, json: JsonValue): Any {
  return anyPack(messageOf(name), messageFrom(name, json));
}

/** The bytes of a message made from JSON. */
export function bytesOf(name: string, json: JsonValue): Uint8Array {
  return toBinary(messageOf(name), messageFrom(name, json));
}
