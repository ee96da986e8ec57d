/** Which containers and features a pod gets: by gate, then by label, then by what the cluster offers. */

import type { KubeObject } from '../engine/types.ts';
import { containers, labels } from '../api/names.ts';
import type { GateName } from './feature-gates.ts';
import type { Effective } from './layers.ts';

/** The CSI driver that hands the SPIFFE Workload API socket to pods. */
export const spiffeCsiDriver = 'csi.spiffe.io';

export type ContainerName = (typeof containers)[keyof typeof containers];

export const containerNames: readonly ContainerName[] = Object.freeze(Object.values(containers));

/** Whether something is injected, and why. */
export interface Choice {
  readonly inject: boolean;
  readonly reason: string;
}

/** The four containers, and the two features that show in volumes and environment. */
export interface Components {
  readonly containers: Readonly<Record<ContainerName, Choice>>;
  readonly spiffe: Choice;
  readonly credentials: Choice;
}

/** A pod, or the template it is made from. */
type HasLabels = Pick<KubeObject, 'metadata'>;

/** What a component is subject to. A gate beats a label: a label can only take away. */
interface Row {
  readonly gate: GateName;
  readonly label: string;
  readonly on: string;
}

const rows = {
  envoyProxy: { gate: 'envoyProxy', label: labels.envoyProxyInject, on: 'the proxy is on' },
  spiffe: { gate: 'spiffeHelper', label: labels.spiffeHelperInject, on: 'SPIFFE identity is on' },
  credentials: {
    gate: 'clientRegistration',
    label: labels.clientRegistrationInject,
    on: 'OAuth client credentials are on',
  },
} as const satisfies Record<string, Row>;

/** Decides each component with its reason. */
export function componentsOf(pod: HasLabels, effective: Effective, csiDriver: boolean): Components {
  const wanted = (row: Row) => byGateThenLabel(row, effective, pod.metadata.labels ?? {});
  const envoyProxy = wanted(rows.envoyProxy);
  const spiffe = available(wanted(rows.spiffe), effective, csiDriver);
  const credentials = wanted(rows.credentials);
  return {
    containers: {
      [containers.proxyInit]: proxyInit(envoyProxy, effective),
      [containers.envoyProxy]: envoyProxy,
      [containers.spiffeHelper]: spiffeHelper(envoyProxy, spiffe),
      [containers.clientRegistration]: clientRegistration(credentials, effective),
    },
    spiffe,
    credentials,
  };
}

/** True when the SPIFFE identity is wanted and only the cluster lacks what it takes. */
export function lacksCsiDriver(pod: HasLabels, effective: Effective, csiDriver: boolean): boolean {
  const wanted = byGateThenLabel(rows.spiffe, effective, pod.metadata.labels ?? {}).inject;
  return wanted && !csiDriver && effective.config.spiffe.volume === 'csi';
}

function byGateThenLabel(row: Row, { gates }: Effective, own: Readonly<Record<string, string>>): Choice {
  if (!gates[row.gate]) return no(`feature gate ${row.gate} is off`);
  if (own[row.label] === 'false') return no(`the pod's label ${row.label} is "false"`);
  return yes(`${row.on}: feature gate ${row.gate} is on and no label of the pod says otherwise`);
}

function available(spiffe: Choice, { config }: Effective, csiDriver: boolean): Choice {
  if (!spiffe.inject || csiDriver || config.spiffe.volume === 'hostPath') return spiffe;
  return no(`the cluster has no CSI driver ${spiffeCsiDriver}`);
}

function proxyInit(envoyProxy: Choice, { config }: Effective): Choice {
  if (!envoyProxy.inject) return no(`it serves envoy-proxy alone, and ${envoyProxy.reason}`);
  if (config.authBridge.mode === 'proxy-sidecar')
    return no('mode proxy-sidecar redirects no traffic: what does not use the proxy by itself passes it by');
  return yes(`mode ${config.authBridge.mode} redirects the traffic of the pod to envoy-proxy`);
}

function spiffeHelper(envoyProxy: Choice, spiffe: Choice): Choice {
  if (!spiffe.inject) return no(spiffe.reason);
  if (envoyProxy.inject) return no('envoy-proxy fetches the SPIFFE identity itself');
  return yes('there is no envoy-proxy to fetch the SPIFFE identity');
}

function clientRegistration(credentials: Choice, { config }: Effective): Choice {
  if (!credentials.inject) return no(credentials.reason);
  if (config.clientRegistration.mode === 'operator')
    return no('clientRegistration.mode is operator: OAuth clients are registered outside of the pod');
  return yes('clientRegistration.mode is sidecar');
}

function yes(reason: string): Choice {
  return { inject: true, reason };
}

function no(reason: string): Choice {
  return { inject: false, reason };
}
