/** The validating webhook of AgentRuntimes: lists live, applies the rules, and answers with a sentence that says what to do. */

import { isDeepStrictEqual } from 'node:util';
import type { AgentRuntime } from '../api/agent-runtime.ts';
import { kinds } from '../api/kinds.ts';
import { webhooks } from '../api/names.ts';
import { isSameTarget } from '../api/target-ref.ts';
import type { AdmissionRequest, LiveReader, Verdict, Webhook } from '../engine/types.ts';
import { workloadRows } from '../workload/kinds.ts';
import { type SupportedKind, specWarnings } from './spec-rules.ts';
import { targetConflict } from './unique-target.ts';

export interface ValidatorOptions {
  /** Asked for the namespace's AgentRuntimes: the cache may lag behind a resource accepted a moment ago (RC-07). */
  readonly live: LiveReader;
  /** The kinds that can be enrolled. Default: the workload table's. */
  readonly supported?: readonly SupportedKind[];
}

const supportedKinds: readonly SupportedKind[] = workloadRows.map(({ watch }) => watch.kind);

/**
 * Refuses a second AgentRuntime for a workload. Deletions, changes of metadata and objects that are being deleted always pass, so that
 * no rule of today keeps an older object from being removed (RC-04). A list that fails refuses: doubt denies.
 */
export function createAgentRuntimeValidator(options: ValidatorOptions): Webhook<AgentRuntime> {
  return {
    name: webhooks.agentRuntime.name,
    path: webhooks.agentRuntime.path,
    kind: kinds.agentRuntime,
    review: (request) => review(request, options),
  };
}

const allow = (reason: string, note: string, warnings: readonly string[] = []): Verdict<AgentRuntime> => ({
  kind: 'allow',
  reason,
  note,
  warnings,
});
const deny = (reason: string, note: string): Verdict<AgentRuntime> => ({ kind: 'deny', reason, note });

async function review(
  { operation, object, oldObject, namespace, name }: AdmissionRequest<AgentRuntime>,
  { live, supported = supportedKinds }: ValidatorOptions,
): Promise<Verdict<AgentRuntime>> {
  if (operation !== 'CREATE' && operation !== 'UPDATE') return allow('NotChecked', `${operation} is not checked.`);
  if (object === undefined) return deny('NoObject', `The ${operation} request holds no object.`);
  if (object.metadata.deletionTimestamp !== undefined) return allow('BeingDeleted', 'The object is being deleted.');
  if (isDeepStrictEqual(object.spec, oldObject?.spec)) return allow('SpecUnchanged', 'The spec is unchanged.');

  const warnings = specWarnings(object.spec, supported);
  const { targetRef } = object.spec;
  if (oldObject !== undefined && isSameTarget(oldObject.spec.targetRef, targetRef)) {
    return allow('TargetUnchanged', 'The target is unchanged.', warnings);
  }
  const others = await listed(live, namespace, targetRef.name);
  if (others instanceof Error) {
    return deny(
      'ListFailed',
      `Whether another AgentRuntime targets ${targetRef.kind} ${targetRef.name} cannot be checked: listing the AgentRuntimes of namespace ${namespace} failed (${others.message}). Try again.`,
    );
  }
  const conflict = targetConflict({ namespace, name, spec: object.spec }, others);
  return conflict === undefined
    ? allow('TargetFree', 'No other AgentRuntime has this target.', warnings)
    : deny('DuplicateTarget', conflict);
}

/** Those with a target of that name: without the selector each new AgentRuntime would cost as much as its namespace has. */
async function listed(live: LiveReader, namespace: string, target: string): Promise<readonly AgentRuntime[] | Error> {
  try {
    return await live.list(kinds.agentRuntime, { namespace, fields: `spec.targetRef.name=${target}` });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
