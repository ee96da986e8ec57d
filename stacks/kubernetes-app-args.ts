/** What is wrong with the arguments of a `KubernetesApp`, also where nobody checks types. */

import { Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { Type } from 'typebox';
import { NamespaceName } from '../constructs/prop-schemas.ts';
import { propViolations, sentence } from '../constructs/refusal.ts';
import type { Violation } from '../runtime/config/violation.ts';
import { ClusterSettings } from './settings-schema.ts';

const { providerVersion, adopt, await: waits } = ClusterSettings.properties;
const optional = Type.Optional;

/** A row for each of `KubernetesAppArgs`. */
const Args = Type.Object({
  app: optional(Type.Unsafe<unknown>({})),
  providerVersion,
  adopt,
  await: waits,
  injects: optional(
    Type.Object({
      agent: optional(Type.Boolean()),
      tool: optional(Type.Boolean()),
      namespaces: optional(Type.Array(NamespaceName)),
    }),
  ),
});

/** Throws unless there is nothing to refuse. A line a violation: `KubernetesApp agents: app: is missing; …`. */
export function refuseArgs(name: string, args: unknown): void {
  const { app } = (args ?? {}) as Readonly<Record<string, unknown>>;
  const all = [...appViolations(app), ...propViolations(Args, args)];
  if (all.length === 0) return;
  throw new Error(all.map((violation) => `KubernetesApp ${name}: ${sentence(violation)}`).join('\n'));
}

/** An app is told by its shape, since a program may have a cdk8s of its own. */
function appViolations(app: unknown): readonly Violation[] {
  if (Chart.isChart(app))
    return [{ path: 'app', message: `is the chart ${app.node.path}; must be its app: App.of(chart)` }];
  if (Construct.isConstruct(app) && app.node.scope === undefined) return [];
  const what = app === undefined ? 'is missing' : 'is none';
  return [{ path: 'app', message: `${what}; must be an app of cdk8s: new App()` }];
}
