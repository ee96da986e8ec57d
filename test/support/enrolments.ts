/** What tests ask of enrolled workloads: what the pod template carries, what the status says, waiting for either. */

import { strict as assert } from 'node:assert';
import type { AgentRuntime } from '../../runtime/api/agent-runtime.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import { annotations, labels } from '../../runtime/api/names.ts';
import type { Client } from '../../runtime/engine/client.ts';
import { isNotFound } from '../../runtime/engine/errors.ts';
import type { KubeObject } from '../../runtime/engine/types.ts';
import { rowOf } from '../../runtime/workload/kinds.ts';
import { eventually, patienceMs } from './engine-bed.ts';

/** What we put on a workload, wherever its kind keeps it. */
export interface Carried {
  readonly label: string | undefined;
  readonly templateLabel: string | undefined;
  readonly hash: string | undefined;
  readonly managedBy: string | undefined;
}

/** What the workload carries of ours. */
export function carriedBy(object: KubeObject): Carried {
  const template = rowOf(object)?.template(object);
  return {
    label: object.metadata.labels?.[labels.type],
    templateLabel: template?.metadata?.labels?.[labels.type],
    hash: template?.metadata?.annotations?.[annotations.configHash],
    managedBy: object.metadata.labels?.[labels.managedBy],
  };
}

export const nothingCarried: Carried = {
  label: undefined,
  templateLabel: undefined,
  hash: undefined,
  managedBy: undefined,
};

/** `Active/Configured`: the phase, and the reason of `Ready`. */
export function standingOf({ status }: AgentRuntime): string {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return `${status?.phase ?? '-'}/${ready?.reason ?? '-'}`;
}

/** Waits until the AgentRuntime says so. */
export async function untilSays(
  client: Client,
  { metadata: { namespace, name = '' } }: KubeObject,
  wanted: string,
  withinMs = patienceMs,
): Promise<AgentRuntime> {
  let found: AgentRuntime | undefined;
  await eventually(async () => {
    found = await client.get(kinds.agentRuntime, { namespace, name });
    assert.equal(standingOf(found), wanted, JSON.stringify(found.status ?? null));
  }, withinMs);
  if (found === undefined) throw new Error('unreachable');
  return found;
}

/** Deletes the AgentRuntime and waits until it is gone. */
export async function untilDeleted(client: Client, { metadata }: KubeObject, withinMs = patienceMs): Promise<void> {
  const key = { namespace: metadata.namespace, name: metadata.name ?? '' };
  await client.remove({ kind: kinds.agentRuntime, ...key });
  await eventually(async () => {
    try {
      const { metadata: left } = await client.get(kinds.agentRuntime, key);
      throw new Error(`AgentRuntime ${key.name} is still there, finalizers ${JSON.stringify(left.finalizers ?? [])}`);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }, withinMs);
}
