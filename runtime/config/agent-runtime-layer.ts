/** AgentRuntime → the configuration it sets: the last layer. */

import type { AgentRuntime } from '../api/agent-runtime.ts';
import { violationsOf } from './check.ts';
import { frozen } from './frozen.ts';
import type { Layer, LayerProblem, LayerSource } from './layers.ts';
import { isSection, overlaid, type Section } from './overlay.ts';
import { type PartialConfig, PlatformConfig } from './platform.ts';
import { podViolations } from './pod-texts.ts';
import { problemOf } from './problem.ts';
import type { Violation } from './violation.ts';

/** Field below `spec` → path in the configuration. */
const fields: readonly (readonly [field: string, path: string])[] = [
  ['authBridgeMode', 'authBridge.mode'],
  ['mtlsMode', 'mtls.mode'],
  ['identity.spiffe.trustDomain', 'spiffe.trustDomain'],
  ['identity.allowedAudiences', 'identity.allowedAudiences'],
  ['identity.clientRegistration.provider', 'identity.provider'],
  ['identity.clientRegistration.keycloak.url', 'identity.url'],
  ['identity.clientRegistration.keycloak.realm', 'identity.realm'],
  ['identity.clientRegistration.keycloak.adminCredentialsSecret', 'identity.adminCredentialsSecret'],
  ['trace.endpoint', 'trace.endpoint'],
  ['trace.protocol', 'trace.protocol'],
  ['trace.sampling.type', 'trace.sampling.type'],
  ['trace.sampling.rate', 'trace.sampling.rate'],
];

/** What the AgentRuntime sets. One that bypassed its schema (an older CRD) yields a problem, never an exception. */
export function agentRuntimeLayer(runtime: AgentRuntime): Layer<PartialConfig> | LayerProblem {
  const { namespace = '', name = '' } = runtime.metadata;
  const source: LayerSource = { layer: 'agent-runtime', where: `AgentRuntime ${namespace}/${name}` };
  const spec: unknown = runtime.spec;
  if (!isSection(spec)) return problemOf(source, [{ path: 'spec', message: 'must be a section' }]);
  const violations: Violation[] = [];
  let values: Section = {};
  for (const [field, path] of fields) {
    const found = at(spec, field.split('.'));
    if ('broken' in found) violations.push({ path: `spec.${found.broken}`, message: 'must be a section' });
    else if (found.value !== undefined) values = overlaid(values, nested(path, found.value));
  }
  const found = violationsOf(PlatformConfig, values);
  for (const { path, message } of found.length > 0 ? found : podViolations(values)) {
    violations.push({ path: fieldOf(path), message });
  }
  if (violations.length > 0) return problemOf(source, unique(violations));
  return frozen({ source, values: structuredClone(values) as PartialConfig });
}

function at(
  value: unknown,
  steps: readonly string[],
  walked = '',
): { readonly value: unknown } | { readonly broken: string } {
  const [step, ...rest] = steps;
  if (step === undefined || value === undefined) return { value };
  if (!isSection(value)) return { broken: walked };
  return at(value[step], rest, walked === '' ? step : `${walked}.${step}`);
}

function nested(path: string, value: unknown): Section {
  return path.split('.').reduceRight<unknown>((inner, step) => ({ [step]: inner }), value) as Section;
}

/** The violation's path in the terms of the AgentRuntime: `spec.mtlsMode`, not `mtls.mode`. */
export function fieldOf(path: string): string {
  const row = fields.find(
    ([, target]) => path === target || path.startsWith(`${target}[`) || path.startsWith(`${target}.`),
  );
  return row === undefined ? path : `spec.${row[0]}${path.slice(row[1].length)}`;
}

function unique(violations: readonly Violation[]): readonly Violation[] {
  return [...new Map(violations.map((violation) => [violation.path, violation])).values()];
}
