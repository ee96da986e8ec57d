/** The conditions of an AgentRuntime, except those about its pods: each a pure function of what was observed. */

import type { Finding } from '../api/conditions.ts';
import { configMaps, labels, managedBy } from '../api/names.ts';
import { isOurs } from './needs.ts';
import type { Observed } from './observed.ts';
import { sentences } from './sentences.ts';
import type { Obstacle } from './obstacles.ts';
import type { Step } from './step.ts';

const targetObstacles: readonly Obstacle['reason'][] = [
  'TargetNotFound',
  'TargetUnavailable',
  'TargetUnsupported',
  'TargetImmutable',
  'SystemNamespace',
];

export function targetFinding({ target, runtime }: Observed, { obstacle }: Step): Finding {
  if (obstacle !== undefined && targetObstacles.includes(obstacle.reason)) {
    return { type: 'TargetResolved', status: 'False', reason: obstacle.reason, message: obstacle.message };
  }
  const { kind, name } = 'found' in target ? target.found.ref : runtime.spec.targetRef;
  const message = `${kind} ${name} was found in namespace ${runtime.metadata.namespace ?? ''}.`;
  return { type: 'TargetResolved', status: 'True', reason: 'TargetFound', message };
}

export function configFinding(observed: Observed): Finding {
  const { configuration } = observed;
  const type = 'ConfigResolved';
  if (configuration.kind === 'broken') {
    const isUnavailable = configuration.problems.some((problem) => problem.kind === 'unavailable');
    const message = sentences(configuration.problems.map((problem) => problem.message));
    return { type, status: 'False', reason: isUnavailable ? 'ConfigUnavailable' : 'ConfigInvalid', message };
  }
  const warnings = [...configuration.warnings, ...foreignConfigMap(observed)];
  return warnings.length === 0
    ? { type, status: 'True', reason: 'ConfigResolved', message: 'All configuration layers were read and merged.' }
    : { type, status: 'True', reason: 'ConfigWarning', message: sentences(warnings) };
}

/** A ConfigMap of our name that a person made: never written, and said so (CF-02). */
function foreignConfigMap({ authBridge, runtime }: Observed): readonly string[] {
  if (authBridge === undefined || isOurs(authBridge)) return [];
  const { name } = configMaps.authBridge;
  return [
    `ConfigMap ${runtime.metadata.namespace ?? ''}/${name} was not made by the operator (it lacks ${labels.managedBy}: ${managedBy}) and is left as it is; sidecars read their settings from it. Rename it to let the operator make its own.`,
  ];
}

export function readyFinding(obstacle: Obstacle | undefined, whenReady: string): Finding {
  const type = 'Ready';
  if (obstacle === undefined) return { type, status: 'True', reason: 'Configured', message: whenReady };
  return { type, status: 'False', reason: obstacle.reason, message: obstacle.message };
}
