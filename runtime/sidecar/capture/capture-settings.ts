/** What proxy-init is told by its environment: the proxy's ports and user, and the ports it must leave alone. */

import { EngineError } from '../../engine/errors.ts';
import { type Backend, backends } from './backend.ts';

export interface CaptureSettings {
  /** Where outbound TCP goes. */
  readonly outboundPort: number;
  /** Where inbound TCP goes. */
  readonly inboundPort: number;
  /** Where the sidecar answers the kubelet's probes: never captured. */
  readonly healthPort: number;
  /** The user whose own connections are never captured. */
  readonly proxyUid: number;
  /** Destination ports that the pod reaches without the proxy. */
  readonly outboundExclude: readonly number[];
  /** The pod's ports that callers reach without the proxy, TCP and UDP alike. */
  readonly inboundExclude: readonly number[];
  /** The only backend to use; undefined: the live one. */
  readonly backend: Backend | undefined;
}

/** A variable that is missing or cannot be used; the message names each. Code `CAPTURE_SETTINGS_INVALID`. */
export class CaptureSettingsInvalid extends EngineError {
  constructor(problems: readonly string[]) {
    super('CAPTURE_SETTINGS_INVALID', problems.join('; '));
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads `PROXY_PORT`, `INBOUND_PROXY_PORT`, `ADMIN_PORT`, `HEALTH_PORT`, `PROXY_UID` (all needed), the two lists of excluded ports and `IPTABLES_BACKEND`. */
export function captureSettings(env: Environment): CaptureSettings {
  const problems: string[] = [];
  const settings: CaptureSettings = {
    outboundPort: numberIn(env, 'PROXY_PORT', highestPort, problems),
    inboundPort: numberIn(env, 'INBOUND_PROXY_PORT', highestPort, problems),
    healthPort: numberIn(env, 'HEALTH_PORT', highestPort, problems),
    proxyUid: numberIn(env, 'PROXY_UID', highestUid, problems),
    outboundExclude: portsIn(env, 'OUTBOUND_PORTS_EXCLUDE', problems),
    inboundExclude: portsIn(env, 'INBOUND_PORTS_EXCLUDE', problems),
    backend: backendIn(env, problems),
  };
  const adminPort = numberIn(env, 'ADMIN_PORT', highestPort, problems);
  if (problems.length === 0) problems.push(...clashes(settings, adminPort));
  if (problems.length > 0) throw new CaptureSettingsInvalid(problems);
  return Object.freeze(settings);
}

const highestPort = 65_535;
/** The last value, 2³² − 1, means "no user". */
const highestUid = 4_294_967_294;

/** A whole number from 1; user 0 is no proxy's: all that runs as root would pass uncaptured. */
function numberIn(env: Environment, name: string, highest: number, problems: string[]): number {
  const text = env[name] ?? '';
  const value = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= highest) return value;
  problems.push(
    text === '' ? `${name} is not set` : `${name}: ${JSON.stringify(text)} is no number from 1 to ${highest}`,
  );
  return 0;
}

function portsIn(env: Environment, name: string, problems: string[]): readonly number[] {
  const words = (env[name] ?? '').split(',').map((word) => word.trim());
  const ports = words
    .filter((word) => word !== '')
    .map((word) => numberIn({ [name]: word }, name, highestPort, problems));
  return [...new Set(ports)].sort((a, b) => a - b);
}

function backendIn(env: Environment, problems: string[]): Backend | undefined {
  const text = env['IPTABLES_BACKEND'] ?? '';
  const named = backends.find((backend) => backend === text);
  if (named === undefined && text !== '') {
    problems.push(`IPTABLES_BACKEND: ${JSON.stringify(text)} is none of ${backends.join(', ')}`);
  }
  return named;
}

/** Two roles on one port would send traffic to the wrong one, and an excluded port of the sidecar's own would open it to the network. */
function clashes({ outboundPort, inboundPort, healthPort, inboundExclude }: CaptureSettings, adminPort: number) {
  const own = { PROXY_PORT: outboundPort, INBOUND_PROXY_PORT: inboundPort, ADMIN_PORT: adminPort };
  const roles = Object.entries({ ...own, HEALTH_PORT: healthPort });
  const twice = roles.filter(([, port], index) => roles.findIndex(([, other]) => other === port) < index);
  const opened = Object.entries(own).filter(([, port]) => inboundExclude.includes(port));
  return [
    ...twice.map(([name, port]) => `${name}: port ${port} has another role already`),
    ...opened.map(([name, port]) => `INBOUND_PORTS_EXCLUDE: ${port} is the sidecar's own (${name}); leave it out`),
  ];
}
