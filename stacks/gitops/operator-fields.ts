/** The fields that the operator writes on workloads of others, which no manifest holds: what a GitOps tool must leave alone. */

import { annotations, labels } from '../../runtime/api/names.ts';
import { workloadRows } from '../../runtime/workload/kinds.ts';
import { isOperator, type Manifest } from '../tree.ts';

/** A kind of workload, and the paths of the operator's fields on it. */
export interface OperatorFields {
  /** API group, without version. */
  readonly group: string;
  readonly kind: string;
  readonly paths: readonly (readonly string[])[];
}

/** Kind by kind, in the order in which messages list the kinds. */
export const operatorFields: readonly OperatorFields[] = workloadRows.map(({ group, kind, templatePath }) => ({
  group,
  kind,
  paths: [
    ['metadata', 'labels', labels.type],
    ['metadata', 'labels', labels.managedBy],
    [...templatePath, 'metadata', 'labels', labels.type],
    [...templatePath, 'metadata', 'annotations', annotations.configHash],
  ],
}));

/** The rows that concern these objects: none for a tree with no workload but the operator's own, which is never enrolled. */
export function operatorFieldsOn(manifests: readonly Manifest[]): readonly OperatorFields[] {
  const others = manifests.filter((manifest) => !isOperator(manifest));
  return operatorFields.filter(({ group, kind }) =>
    others.some((manifest) => manifest.kind === kind && manifest.apiVersion.startsWith(`${group}/`)),
  );
}
