/** What the command says about one subject: the object to print, and the lines for people. */

import type { Pod } from '../api/kubernetes.ts';
import type { Judgement } from '../authbridge/snapshot.ts';
import { explainConfig } from '../config/explain.ts';
import type { Layers } from '../config/layers.ts';
import { mergeLayers } from '../config/merge.ts';
import type { ObjectMeta } from '../engine/types.ts';

export interface Outcome {
  /** `Pod team1/weather-agent-`. */
  readonly subject: string;
  readonly denied: boolean;
  /** Printed on standard output; absent for what was denied. */
  readonly object?: unknown;
  /** One line: outcome, reason, sentence. */
  readonly line: string;
  readonly warnings: readonly string[];
  /** For `--explain`; worked out only then. */
  readonly explanation: () => readonly string[];
}

/** The outcome of a judged pod; `object` is what to print when it was not denied. */
export function outcomeOf(subject: string, judgement: Judgement, layers: Layers, object: unknown): Outcome {
  const { verdict } = judgement;
  const denied = verdict.kind === 'deny';
  return {
    subject,
    denied,
    ...(denied ? {} : { object }),
    line: `${subject}: ${words[verdict.kind]} (${verdict.reason}): ${verdict.note}`,
    warnings: [...(verdict.warnings ?? []).filter((warning) => warning !== verdict.note), ...layers.warnings],
    explanation: () => explanation(judgement, layers),
  };
}

const words: Readonly<Record<Judgement['verdict']['kind'], string>> = {
  allow: 'not injected',
  mutate: 'injected',
  deny: 'denied',
};

function explanation({ steps, components, effective, identity }: Judgement, layers: Layers): readonly string[] {
  const choices = components === undefined ? [] : Object.entries(components.containers);
  const features =
    components === undefined ? [] : Object.entries({ spiffe: components.spiffe, credentials: components.credentials });
  return [
    ...steps.map(({ step, passed, reason }) => `step ${step}: ${passed ? 'passed' : 'stopped'}: ${reason}`),
    ...choices.map(([name, { inject, reason }]) => `container ${name}: ${inject ? 'yes' : 'no'}: ${reason}`),
    ...features.map(([name, { inject, reason }]) => `feature ${name}: ${inject ? 'yes' : 'no'}: ${reason}`),
    ...(identity === undefined ? [] : [`identity ${identity}`]),
    ...explainConfig(effective ?? mergeLayers(layers)).map((line) => `value ${line}`),
  ];
}

/** `Pod team1/name`; an object without a name is named by what its name will begin with. */
export function subjectName(kind: string, namespace: string, metadata: ObjectMeta | undefined): string {
  const { name, generateName } = metadata ?? {};
  return `${kind} ${namespace}/${name || (generateName ? `${generateName}*` : '(no name)')}`;
}

/** The pod after the verdict. */
export function podAfter(pod: Pod, { verdict }: Judgement): Pod {
  return verdict.kind === 'mutate' ? verdict.object : pod;
}
