/** The validating webhooks: list live, apply the rules of the resource, and answer with a sentence that says what to do. */

import { isDeepStrictEqual } from 'node:util';
import type { AgentCard } from '../api/agent-card.ts';
import type { AgentRuntime } from '../api/agent-runtime.ts';
import { neverInjected } from '../api/system-namespaces.ts';
import { isSameTarget } from '../api/target-ref.ts';
import type { AdmissionRequest, Kind, LiveReader, Verdict, Webhook } from '../engine/types.ts';
import { workloadRows } from '../workload/kinds.ts';
import { agentCardRules } from './agent-card-rules.ts';
import { agentRuntimeRules } from './agent-runtime-rules.ts';
import type { Rules, SupportedKind, Targeted } from './rules.ts';
import { targetConflict } from './unique-target.ts';

export interface ValidatorOptions {
  /** Asked for the namespace's resources of the kind: the cache may lag behind one accepted a moment ago (RC-07). */
  readonly live: LiveReader;
  /** The kinds that can be a target. Default: the workload table's. */
  readonly supported?: readonly SupportedKind[];
  readonly operatorNamespace: string;
}

/** Refuses a second AgentRuntime for a workload, and one in a namespace where no pod is ever injected. */
export function createAgentRuntimeValidator(options: ValidatorOptions): Webhook<AgentRuntime> {
  return validator(agentRuntimeRules, options);
}

/**
 * Refuses a second AgentCard for a workload, one in a namespace where there can be no agent, and a sync period out of bounds. The card that
 * the operator generated stands in nobody's way; it is itself refused where a hand-made one exists.
 */
export function createAgentCardValidator(options: ValidatorOptions): Webhook<AgentCard> {
  return validator(agentCardRules, options);
}

const supportedKinds: readonly SupportedKind[] = workloadRows.map(({ watch }) => watch.kind);

/**
 * Deletions, changes of metadata and objects that are being deleted always pass, so that no rule of today keeps an older object from being
 * removed (RC-04). A list that fails refuses: doubt denies.
 */
function validator<T extends Targeted>(rules: Rules<T>, options: ValidatorOptions): Webhook<T> {
  const { webhook, kind } = rules;
  return { ...webhook, kind, review: (request) => review(request, rules, options) };
}

const allow = (reason: string, note: string, warnings: readonly string[] = []) =>
  ({ kind: 'allow', reason, note, warnings }) as const;
const deny = (reason: string, note: string) => ({ kind: 'deny', reason, note }) as const;

async function review<T extends Targeted>(
  request: AdmissionRequest<T>,
  rules: Rules<T>,
  { live, supported = supportedKinds, operatorNamespace }: ValidatorOptions,
): Promise<Verdict<T>> {
  const { operation, object, oldObject } = request;
  if (operation !== 'CREATE' && operation !== 'UPDATE') return allow('NotChecked', `${operation} is not checked.`);
  if (object === undefined) return deny('NoObject', `The ${operation} request holds no object.`);
  if (object.metadata.deletionTimestamp !== undefined) return allow('BeingDeleted', 'The object is being deleted.');
  if (isDeepStrictEqual(object.spec, oldObject?.spec)) return allow('SpecUnchanged', 'The spec is unchanged.');

  const refused = operation === 'CREATE' ? misplaced(object, request.namespace, operatorNamespace) : undefined;
  if (refused !== undefined) return refused;
  const refusal = rules.refusal(object.spec, oldObject?.spec);
  if (refusal !== undefined) return deny('SpecRefused', refusal);
  const warnings = rules.warnings(object.spec, supported);
  if (oldObject !== undefined && isSameTarget(oldObject.spec.targetRef, object.spec.targetRef)) {
    return allow('TargetUnchanged', 'The target is unchanged.', warnings);
  }
  const problem = await targetProblem(object, request, { rules, live });
  return problem ?? allow('TargetFree', `No other ${object.kind} has this target.`, warnings);
}

/** Asked of a new one: its namespace never changes. */
function misplaced({ kind }: Targeted, namespace: string, operatorNamespace: string) {
  const never = neverInjected(namespace, operatorNamespace);
  if (never === undefined) return undefined;
  return deny(
    'SystemNamespace',
    `metadata.namespace: ${never}; create the ${kind} and its workload in another namespace.`,
  );
}

/** Why the target cannot be had, or not be known to be free. */
async function targetProblem<T extends Targeted>(
  object: T,
  { namespace, name }: AdmissionRequest<T>,
  { rules, live }: { readonly rules: Rules<T>; readonly live: LiveReader },
): Promise<Verdict<T> | undefined> {
  const { kind, spec } = object;
  const { targetRef } = spec;
  const others = await listed(live, rules.kind, { namespace, target: targetRef.name });
  if (others instanceof Error) {
    return deny(
      'ListFailed',
      `Whether another ${kind} targets ${targetRef.kind} ${targetRef.name} cannot be checked: listing the ${kind}s of namespace ${namespace} failed (${others.message}). Try again.`,
    );
  }
  const rivals = others.filter((other) => rules.isRival(object, other));
  const conflict = targetConflict({ namespace, name, object }, rivals);
  return conflict === undefined ? undefined : deny('DuplicateTarget', conflict);
}

/** Those with a target of that name: without the selector each new resource would cost as much as its namespace has. */
async function listed<T extends Targeted>(
  live: LiveReader,
  kind: Kind<T>,
  { namespace, target }: { readonly namespace: string; readonly target: string },
): Promise<readonly T[] | Error> {
  try {
    return await live.list(kind, { namespace, fields: `spec.targetRef.name=${target}` });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
