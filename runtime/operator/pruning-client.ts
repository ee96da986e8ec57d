/** A client that applies no field which an older definition in the cluster lacks, so that the rest still comes to be. */

import { type PruningSchema, pruned } from '../api/schema-pruning.ts';
import type { Client } from '../engine/client.ts';
import type { Fragment, Kind } from '../engine/types.ts';

/**
 * Server-side apply refuses a whole object for one field that its definition lacks: under an older definition no status would ever be written.
 * `olderSchema` gives the schema of a kind whose definition is older than this operator, and nothing for every other.
 */
export function pruningClient(client: Client, olderSchema: (kind: Kind) => PruningSchema | undefined): Client {
  return {
    ...client,
    apply: (fragment, options) => client.apply(known(fragment, olderSchema(fragment.kind)), options),
  };
}

function known({ kind, body }: Fragment, schema: PruningSchema | undefined): Fragment {
  if (schema === undefined) return { kind, body };
  // What every object has is in no schema.
  const { apiVersion, kind: name, metadata, ...rest } = body;
  return { kind, body: { ...(pruned(rest, schema) as object), apiVersion, kind: name, metadata } };
}
