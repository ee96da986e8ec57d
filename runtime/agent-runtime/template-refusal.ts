/** Workloads whose new pods the webhook is certain to refuse, by the webhook's own rules: enrolling one would only take its running pods down. */

import { annotations } from '../api/names.ts';
import { componentsOf } from '../config/components.ts';
import { type Conflict, templateConflict } from '../config/conflicts.ts';
import { enrolled } from '../workload/fragment.ts';
import { restrictingLevel } from '../workload/pod-security.ts';
import type { Workload } from '../workload/workload.ts';
import { injectionOff } from './injection.ts';
import { error, type Obstacle } from './obstacles.ts';
import type { Facts } from './observed.ts';

/** Undefined also where nothing is injected, and where the configuration cannot be read, which is said on its own. */
export function templateRefusal(facts: Facts, workload: Workload): Obstacle | undefined {
  const { configuration, namespace, hasCsiDriver: csiDriver } = facts;
  const { metadata = {}, spec } = workload.row.template(workload.object) ?? {};
  if (spec === undefined || configuration.kind === 'broken') return undefined;
  if (injectionOff(facts, workload) !== undefined) return undefined;
  const { effective } = configuration;
  const pod = { metadata, spec };
  const components = componentsOf(pod, effective, csiDriver);
  const level = restrictingLevel(namespace.labels);
  const where = { namespace: workload.namespace, restrictingLevel: level };
  const found = templateConflict({ pod, ...where, csiDriver, effective, components }, workload.name);
  // That is the cluster's and the configuration's doing, not the template's: the change is rolled out, and its pods say what they lack.
  return found === undefined || found.reason === 'SpiffeUnavailable' ? undefined : refusal(workload, found);
}

function refusal(workload: Workload, { reason, note }: Conflict): Obstacle {
  const { kind, name } = workload.ref;
  const stays =
    enrolled(workload).configHash === undefined
      ? 'It is not enrolled until then, and its pods are left alone'
      : 'It stays enrolled, and the operator does not restart its pods until then';
  return error(reason, `New pods of ${kind} ${name} would be refused: ${note}. ${stays}.`);
}

const watched = [annotations.injected, annotations.outboundPortsExclude, annotations.inboundPortsExclude];

/** What of a template decides that, as a value to compare. */
export function decisiveParts({ row, object }: Workload): unknown {
  const { metadata, spec } = row.template(object) ?? {};
  const users = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].map(({ name, securityContext }) => [
    name,
    securityContext?.runAsUser,
  ]);
  const { os, hostNetwork, securityContext, volumes } = (spec ?? {}) as NonNullable<typeof spec> & {
    readonly os?: unknown;
  };
  return [watched.map((name) => metadata?.annotations?.[name]), users, os, hostNetwork, securityContext, volumes];
}
