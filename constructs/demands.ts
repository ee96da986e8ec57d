/** What the constructs of an app ask of its platform in vain: in the operator's own namespace, in one that nobody watches, or against its gates. */

import type { IConstruct } from 'constructs';
import type { Violation } from '../runtime/config/violation.ts';
import { AgentCard } from './agent-card.ts';
import { AgentNamespace } from './agent-namespace.ts';
import { AgentRuntime } from './agent-runtime.ts';
import type { FeatureGates } from '../runtime/config/feature-gates.ts';
import { NamespaceDefaults } from './namespace-defaults.ts';
import { lacksIdentity, strictProblem, strictViolations } from './strict-mtls.ts';

/** A platform as its demands see it. */
export interface Supply extends IConstruct {
  /** The operator's own namespace. */
  readonly namespace: string;
  /** Whether it looks after agents of this namespace. */
  watches(namespace: string): boolean;
}

interface Demand {
  /** What is asked: a verb and its object. */
  readonly what: string;
  /** Absent: the namespace of whoever applies it. */
  readonly namespace: string | undefined;
  /** What to do where the namespace is the operator's own; absent: nothing is wrong with it. */
  readonly instead?: string;
}

/**
 * A sentence for each construct of the app that asks in vain, with its path and the remedy. `all` are the platforms of the app: what none of
 * them watches is told by the first.
 */
export function demandsInVain(platform: Supply, all: readonly Supply[]): readonly string[] {
  return platform.node.root.node.findAll().flatMap((construct) => {
    const { path } = construct.node;
    const demand = demandOf(construct);
    if (demand?.namespace === undefined) return [];
    const { what, namespace, instead } = demand;
    if (namespace === platform.namespace) {
      const own = `the operator's own namespace ${namespace}, where no pod is ever injected`;
      return instead === undefined ? [] : [`${path} ${what} ${own}: ${instead}`];
    }
    if (platform !== all[0] || all.some((each) => each.watches(namespace))) return [];
    const remedy = `add it to watch.namespaces, or call watchNamespace('${namespace}')`;
    const nobody = all.length > 1 ? 'no platform of the app watches' : 'the platform does not watch';
    return [`${path} ${what} namespace ${namespace}, which ${nobody}: ${remedy}`];
  });
}

/** A sentence for each construct that asks for strict mutual TLS where the platform watches and its gates rule that out, with path and prop. */
export function strictInVain(platform: Supply, gates: Partial<FeatureGates> | undefined): readonly string[] {
  return platform.node.root.node.findAll().flatMap((construct) => {
    const { path, message } = strictDemandOf(construct, gates) ?? {};
    const { namespace = '' } = construct as { readonly namespace?: string };
    return path === undefined || !platform.watches(namespace) ? [] : [`${construct.node.path} ${path}: ${message}`];
  });
}

function strictDemandOf(construct: IConstruct, gates: Partial<FeatureGates> | undefined): Violation | undefined {
  if (construct instanceof NamespaceDefaults) {
    const [found] = strictViolations(construct.config, gates);
    return found && { ...found, path: `config.${found.path}` };
  }
  if (!(construct instanceof AgentRuntime)) return undefined;
  const { spec } = construct.apiObject.toJson() as { readonly spec: { readonly mtlsMode?: string } };
  if (spec.mtlsMode !== 'strict' || !lacksIdentity(gates, construct.type)) return undefined;
  return { path: 'mtlsMode', message: strictProblem('mtlsMode: permissive') };
}

function demandOf(construct: IConstruct): Demand | undefined {
  if (construct instanceof NamespaceDefaults) {
    const { namespace } = construct;
    return { what: 'sets defaults for', namespace, instead: 'set config of the AgentPlatform' };
  }
  if (construct instanceof AgentNamespace) return { what: 'makes agents welcome in', namespace: construct.name };
  if (construct instanceof AgentRuntime || construct instanceof AgentCard) {
    const { targetRef, namespace } = construct;
    const what = construct instanceof AgentRuntime ? 'enrols' : 'keeps the card of';
    return { what: `${what} ${targetRef.kind} ${targetRef.name} in`, namespace, instead: 'choose another' };
  }
  return undefined;
}
