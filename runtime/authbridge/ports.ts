/** Chooses the proxy's ports so that none is one the application uses. */

import type { Container, PodSpec, Probe } from '../api/kubernetes.ts';
import type { PlatformConfig } from '../config/platform.ts';

export const portRoles = ['outbound', 'inbound', 'admin', 'health'] as const;
export type PortRole = (typeof portRoles)[number];
export type Ports = Readonly<Record<PortRole, number>>;

/** A port that the proxy does not get: which was wanted, and who has it. */
export interface PortClash {
  readonly role: PortRole;
  readonly port: number;
  readonly container: string;
}

const highestPort = 65535;

/** The configured port of each role. */
export function configuredPorts({ outboundPort, inboundPort, adminPort, healthPort }: PlatformConfig['proxy']): Ports {
  return { outbound: outboundPort, inbound: inboundPort, admin: adminPort, health: healthPort };
}

/**
 * The ports the pod's own containers use, init containers included → the container that uses it: declared ports, host ports, a
 * literal environment variable `PORT`, and numeric probe ports (an application listens on a port it is probed at).
 */
export function usedPorts(spec: PodSpec): ReadonlyMap<number, string> {
  const used = new Map<number, string>();
  for (const container of ownContainers(spec)) {
    for (const port of [...saidPorts(container), ...probedPorts(container)]) {
      if (!used.has(port)) used.set(port, container.name);
    }
  }
  return used;
}

/**
 * Ports of the proxy as configured that a container is probed at and no container says it listens on: whoever wrote the probe may have meant
 * the proxy, which moves away from it.
 */
export function probesOfProxy(wanted: Ports, spec: PodSpec): readonly PortClash[] {
  const own = ownContainers(spec);
  const said = new Set(own.flatMap(saidPorts));
  return own.flatMap((container) =>
    portRoles
      .filter((role) => probedPorts(container).includes(wanted[role]) && !said.has(wanted[role]))
      .map((role) => ({ role, port: wanted[role], container: container.name })),
  );
}

function ownContainers({ initContainers, containers }: PodSpec): readonly Container[] {
  return [...(initContainers ?? []), ...containers];
}

/** Those the container says it listens on. */
function saidPorts({ ports, env }: Container): readonly number[] {
  const declared = (ports ?? []).flatMap(({ containerPort, hostPort }) => [containerPort, hostPort ?? 0]);
  const named = (env ?? []).filter(({ name }) => name === 'PORT').map(({ value }) => portIn(expanded(value, env)));
  return [...declared, ...named].filter(isPort);
}

function probedPorts({ startupProbe, livenessProbe, readinessProbe }: Container): readonly number[] {
  return [startupProbe, livenessProbe, readinessProbe].map(probedPort).filter(isPort);
}

function isPort(port: number): boolean {
  return port > 0 && port <= highestPort;
}

/** A probe as Kubernetes has it; a port given by name is among the declared ones. */
interface AnyProbe extends Probe {
  readonly tcpSocket?: { readonly port: number | string };
}

function probedPort(probe: AnyProbe | undefined): number {
  return Number(probe?.httpGet?.port ?? probe?.tcpSocket?.port ?? probe?.grpc?.port ?? 0);
}

/** `$(NAME)` of a variable with a literal value, as the kubelet expands it; one level is enough for a port. */
function expanded(value: string | undefined, env: Container['env']): string | undefined {
  return value?.replaceAll(/\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)/g, (reference: string, name: string) => {
    return env?.findLast((variable) => variable.name === name)?.value ?? reference;
  });
}

/** The port of `8080`, `:8080` or `0.0.0.0:8080`; 0 for anything else. */
function portIn(value: string | undefined): number {
  const digits = /^(?:[^\s]*:)?(\d{1,5})$/.exec(value?.trim() ?? '')?.[1];
  return digits === undefined ? 0 : Number(digits);
}

/**
 * Distinct free ports: the configured one where it is free, else the next free one above it. A role whose configured port is free keeps it,
 * also when another role moves past it.
 */
export function chosenPorts(wanted: Ports, used: ReadonlyMap<number, string>): Ports | PortClash {
  const chosen = new Map<PortRole, number>();
  const taken = new Map(used);
  for (const role of portRoles) {
    if (taken.has(wanted[role])) continue;
    chosen.set(role, wanted[role]);
    taken.set(wanted[role], role);
  }
  for (const role of portRoles) {
    if (chosen.has(role)) continue;
    const port = freeAbove(wanted[role], taken);
    if (port === undefined) return { role, port: wanted[role], container: taken.get(wanted[role]) ?? '' };
    chosen.set(role, port);
    taken.set(port, role);
  }
  const of = (role: PortRole) => chosen.get(role) ?? wanted[role];
  return { outbound: of('outbound'), inbound: of('inbound'), admin: of('admin'), health: of('health') };
}

function freeAbove(port: number, taken: ReadonlyMap<number, string>): number | undefined {
  for (let next = port + 1; next <= highestPort; next += 1) if (!taken.has(next)) return next;
  return undefined;
}

/** True when no ports could be chosen. */
export function isClash(ports: Ports | PortClash): ports is PortClash {
  return 'role' in ports;
}
