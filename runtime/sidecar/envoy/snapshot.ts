/** Everything the discovery server has for Envoy at one moment, packed. */

import type { Any } from '@bufbuild/protobuf/wkt';
import { sha256Hex } from '../../encoding/digest.ts';
import { packed } from '../wire/registry.ts';
import { trafficClusters } from './clusters.ts';
import { explicitClusters, explicitListeners } from './explicit.ts';
import type { Intent } from './intent.ts';
import { listeners } from './listeners.ts';
import { type Named, typeUrl, types } from './names.ts';
import { secrets, type TlsIdentity } from './secrets.ts';

export interface Resource {
  readonly name: string;
  readonly any: Any;
}

/** Resources by the URL of their type; the order of the types is the order in which changes are sent, so that what is referred to comes first. */
export type Snapshot = ReadonlyMap<string, readonly Resource[]>;

/** The snapshot of a pod's intent and identity. Throws on what no message can hold, with the field's name. */
export function snapshot(intent: Intent, identity: TlsIdentity | undefined): Snapshot {
  return new Map([
    kind(types.cluster, clustersOf(intent, identity)),
    kind(types.secret, intent.mtls === 'disabled' ? [] : secrets(identity)),
    kind(types.listener, listenersOf(intent)),
  ]);
}

/** What CDS serves. */
export function clustersOf(intent: Intent, identity: TlsIdentity | undefined): readonly Named[] {
  return intent.explicit === undefined
    ? trafficClusters(intent, identity)
    : explicitClusters(intent, intent.explicit, identity);
}

/** What LDS serves. */
export function listenersOf(intent: Intent): readonly Named[] {
  return intent.explicit === undefined ? listeners(intent) : explicitListeners(intent, intent.explicit);
}

/** Names the content: equal versions are equal resources. */
export function versionOf(resources: readonly Resource[]): string {
  return sha256Hex(resources.map(({ name, any }) => `${name} ${sha256Hex(any.value)}`).join('\n')).slice(0, 16);
}

function kind(type: string, all: readonly Named[]): readonly [string, readonly Resource[]] {
  return [typeUrl(type), all.map((json) => ({ name: json.name, any: packed(type, json) }))];
}
