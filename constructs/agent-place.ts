/** Where a resource of an agent may be: in no namespace that the webhooks never look at, whoever chose it. */

import { Chart } from 'cdk8s';
import type { IConstruct } from 'constructs';
import type { Violation } from '../runtime/config/violation.ts';
import { agentNamespaceViolations } from './watched-namespaces.ts';

/** Who may have chosen the namespace; the first that did counts, and without any the chart. */
export interface Place {
  /** The prop `namespace`. */
  readonly asked?: string | undefined;
  /** The namespace of the workload, where it is part of the app. */
  readonly ofTarget?: string | undefined;
}

/** Why no agent can live where the construct would put its resource, or nothing. The construct is in a chart. */
export function placeViolations(construct: IConstruct, { asked, ofTarget }: Place): readonly Violation[] {
  const choices: readonly (readonly [path: string, name: string | undefined])[] = [
    ['namespace', asked],
    ['target', ofTarget],
    ['namespace of the chart', Chart.of(construct).namespace],
  ];
  const [path, name] = choices.find(([, each]) => each !== undefined) ?? [];
  if (path === undefined || name === undefined) return [];
  return agentNamespaceViolations(name, undefined, path, 'choose another');
}
