/** The environment of injected containers: literals, or references to the namespace's ConfigMap, chosen by the gate `perWorkloadConfigResolution`. */

import type { EnvVar } from '../api/kubernetes.ts';
import { configMaps } from '../api/names.ts';
import { authBridgeSettings, type AuthBridgeSetting } from '../config/authbridge-data.ts';
import type { Effective } from '../config/layers.ts';
import type { Build } from './build.ts';

/** How one setting becomes a variable; `undefined`: not at all. */
type Strategy = (setting: AuthBridgeSetting, effective: Effective) => EnvVar | undefined;

/** Resolved at admission, the AgentRuntime's overrides included. */
const literally: Strategy = ({ name, value }, { config }) => literal(name, value(config));

/**
 * Resolved by the kubelet when the container starts, from the ConfigMap the controller keeps in the namespace. Optional: a pod must not wait for
 * a ConfigMap that is gone. What the AgentRuntime overrides is in no ConfigMap and therefore a literal (decision 0007).
 */
const byReference: Strategy = (setting, effective) => {
  const paths = setting.paths(effective.config);
  if (paths.some((path) => effective.origins.get(path)?.layer === 'agent-runtime'))
    return literally(setting, effective);
  const { name } = setting;
  return { name, valueFrom: { configMapKeyRef: { name: configMaps.authBridge.name, key: name, optional: true } } };
};

const settingsWithSpiffe = authBridgeSettings;
const settingsWithoutSpiffe = authBridgeSettings.filter(({ name }) => !name.startsWith('SPIFFE_'));

/** Identity, shape and settings, in this order. No value of a Secret is ever among them. */
export function sidecarEnv({ effective, components }: Build): readonly EnvVar[] {
  const { config, gates } = effective;
  const strategy = gates.perWorkloadConfigResolution ? literally : byReference;
  const spiffe = components.spiffe.inject;
  const shape = [
    literal('AUTHBRIDGE_MODE', config.authBridge.mode),
    literal('MTLS_MODE', spiffe ? config.mtls.mode : 'disabled'),
    ...(spiffe ? [literal('SPIFFE_ENDPOINT_SOCKET', config.spiffe.socketPath)] : []),
  ];
  const settings = (spiffe ? settingsWithSpiffe : settingsWithoutSpiffe).map((setting) => strategy(setting, effective));
  return [...identityEnv, ...shape, ...settings].filter((variable) => variable !== undefined);
}

/** Who the pod is, told by the kubelet. */
export const identityEnv: readonly EnvVar[] = Object.freeze([
  field('POD_NAME', 'metadata.name'),
  field('POD_NAMESPACE', 'metadata.namespace'),
  field('POD_UID', 'metadata.uid'),
  field('POD_IP', 'status.podIPs'),
  field('SERVICE_ACCOUNT', 'spec.serviceAccountName'),
]);

function field(name: string, fieldPath: string): EnvVar {
  return { name, valueFrom: { fieldRef: { fieldPath } } };
}

/** A literal variable, or none for an empty value. Kubernetes expands `$(NAME)` in literals: a dollar sign is doubled to stay one. */
export function literal(name: string, value: string | number): EnvVar | undefined {
  const text = String(value);
  return text === '' ? undefined : { name, value: text.replaceAll('$', () => '$$') };
}

/** Several literals, empty ones left out. */
export function literals(values: Readonly<Record<string, string | number>>): readonly EnvVar[] {
  return Object.entries(values)
    .map(([name, value]) => literal(name, value))
    .filter((variable) => variable !== undefined);
}
