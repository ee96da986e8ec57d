/** What enrolment writes on a workload, what release takes away again, and how far a workload is enrolled. */

import { annotations, labels, managedBy } from '../api/names.ts';
import type { LabelSelector } from '../api/kubernetes.ts';
import type { Fragment, KubeObject, MergePatch } from '../engine/types.ts';
import type { Workload } from './workload.ts';

export interface Enrolment {
  readonly type: 'agent' | 'tool';
  /** 64 hex characters, see `configHash`. */
  readonly configHash: string;
  /** Whether our managed-by label is stated: only when `takesManagedBy` says so. */
  readonly managedBy: boolean;
}

export interface Enrolled {
  /** The type label new pods get, from the template. */
  readonly type?: string;
  readonly configHash?: string;
  /** Metadata and template agree on a type, and the template has a hash. */
  readonly complete: boolean;
}

/**
 * The server-side-apply body of an enrolled workload: our labels and the hash, nothing else (reports RC-01, GO-02). It carries the uid,
 * so it can never create a workload nor land on a namesake.
 */
export function enrolment(workload: Workload, facts: Enrolment): Fragment {
  const { kind } = workload.row.watch;
  const { namespace, name, uid } = workload;
  const ours = { [labels.type]: facts.type, ...(facts.managedBy ? { [labels.managedBy]: managedBy } : {}) };
  const template = {
    metadata: {
      labels: { [labels.type]: facts.type },
      annotations: { [annotations.configHash]: facts.configHash },
    },
  };
  const body: KubeObject = {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    metadata: { namespace, name, uid, labels: ours },
    ...nested(workload.row.templatePath, template),
  };
  return { kind, body: body as Fragment['body'] };
}

/**
 * Removes what enrolment set and nothing else (report RC-03): only keys that are present, managed-by only when
 * its value is ours. `type`, when given, limits the removal of the type label to that value. `undefined`: nothing to remove.
 * The template of a Job that has started is immutable and is left alone, and so is a type label that the workload's own selector
 * asks for, so that a release can never be refused.
 */
export function release(workload: Workload, only: { readonly type?: string } = {}): MergePatch | undefined {
  const isOurs = (type: string | undefined) => type !== undefined && (only.type === undefined || type === only.type);
  const metadataLabels = {
    ...(isOurs(workload.labels[labels.type]) ? { [labels.type]: null } : {}),
    ...(workload.labels[labels.managedBy] === managedBy ? { [labels.managedBy]: null } : {}),
  };
  const mayTouchTemplate = workload.row.canLabelTemplate(workload.object);
  const mayTouchType = mayTouchTemplate && !selectsByType(workload);
  const templateLabels = mayTouchType && isOurs(workload.templateLabels[labels.type]) ? { [labels.type]: null } : {};
  const templateAnnotations =
    mayTouchTemplate && workload.templateAnnotations[annotations.configHash] !== undefined
      ? { [annotations.configHash]: null }
      : {};
  const body = {
    ...nested(['metadata', 'labels'], metadataLabels),
    ...nested([...workload.row.templatePath, 'metadata'], {
      ...nested(['labels'], templateLabels),
      ...nested(['annotations'], templateAnnotations),
    }),
  };
  if (Object.keys(body).length === 0) return undefined;
  const { namespace, name, uid } = workload;
  return { target: { kind: workload.row.watch.kind, namespace, name, uid }, body };
}

/** The workload's own selector, which is immutable, asks for the type label: the API server refuses a template without it. */
export function selectsByType({ object }: Workload): boolean {
  const { selector } = (object as { readonly spec?: { readonly selector?: LabelSelector } }).spec ?? {};
  const isInExpressions = selector?.matchExpressions?.some(({ key }) => key === labels.type) === true;
  return isInExpressions || selector?.matchLabels?.[labels.type] !== undefined;
}

/** Whether we may state managed-by: the key is absent or already ours; never taken from Helm, Pulumi or anyone (report GO-02). */
export function takesManagedBy(workload: Workload): boolean {
  const current = workload.labels[labels.managedBy];
  return current === undefined || current === managedBy;
}

/** How far a workload is enrolled already. */
export function enrolled(workload: Workload): Enrolled {
  const type = workload.templateLabels[labels.type];
  const configHash = workload.templateAnnotations[annotations.configHash];
  const complete = type !== undefined && configHash !== undefined && workload.labels[labels.type] === type;
  return {
    ...(type === undefined ? {} : { type }),
    ...(configHash === undefined ? {} : { configHash }),
    complete,
  };
}

/** `value` at the end of `path`; nothing at all when it is empty. */
function nested(path: readonly string[], value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (Object.keys(value).length === 0) return {};
  return path.reduceRight<Readonly<Record<string, unknown>>>((inner, step) => ({ [step]: inner }), value);
}
