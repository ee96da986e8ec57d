/** An API server with the synthesized platform, operator processes under its own account, and what tests ask of both. */

import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../runtime/engine/client.ts';
import { systemClock } from '../../runtime/engine/clock.ts';
import { unlimited } from '../../runtime/engine/limiter.ts';
import { createMetrics } from '../../runtime/engine/metrics.ts';
import { createTransport } from '../../runtime/engine/transport.ts';
import { startControlPlane } from '../lab/control-plane.ts';
import { makeOwnedDir } from '../lab/owned-dir.ts';
import { followAuditLog, writeAuditPolicy } from './audit-log.ts';
import { eventually, patienceMs, portOf, reach } from './engine-bed.ts';
import { startFaultProxy } from './fault-proxy.ts';
import { startHttpProxy } from './http-proxy.ts';
import { type OperatorProcess, runOperator, startOperatorProcess } from './operator-process.ts';
import {
  accountIn,
  applyAll,
  tokenOf,
  platformObjects,
  type PlatformProps,
  userOf,
  writeTokenKubeconfig,
} from './operator-platform.ts';
import { startServiceProxy } from './service-proxy.ts';

export interface OperatorBedOptions {
  readonly platform?: PlatformProps;
  /** Kinds of the platform that are not installed at first: `installRest` does. */
  readonly without?: readonly string[];
}

export interface StartOptions {
  /** Where it finds the API server; default: its own port. */
  readonly port?: number;
  readonly flags?: Readonly<Record<string, string | number>>;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts the control plane with controllers and an audit log, and installs the platform. */
export async function startOperatorBed(name: string, { platform = {}, without = [] }: OperatorBedOptions = {}) {
  const dir = makeOwnedDir(`${name}-files`);
  const policy = writeAuditPolicy(dir);
  const [plane] = await Promise.all([
    startControlPlane({
      name,
      withControllerManager: true,
      audit: true,
      flags: { apiServer: [`--audit-policy-file=${policy}`, '--audit-log-maxsize=2000'] },
    }),
    runOperator(['--help']),
  ]);
  const { certificatesDir } = plane;
  const connection = reach({ port: portOf(plane), certificatesDir });
  const transport = createTransport({
    connection,
    clock: systemClock,
    metrics: createMetrics({ process: false }),
    limiter: unlimited,
    userAgent: 'user',
  });
  const client = createClient(transport);
  const service = await startServiceProxy();
  const objects = platformObjects(platform, service.port);
  const isLeftOut = ({ kind }: { readonly kind: string }): boolean => without.includes(kind);
  await applyAll(
    client,
    objects.filter((object) => !isLeftOut(object)),
  );
  const account = accountIn(objects);
  const token = await tokenOf(transport, account);
  const operators = new Set<OperatorProcess>();
  const closings: (() => Promise<void>)[] = [];

  const start = async (operator: string, { port = portOf(plane), flags = {}, env = {} }: StartOptions = {}) => {
    const kubeconfig = writeTokenKubeconfig({ dir, certificatesDir, port, token });
    const started = await startOperatorProcess({ name: operator, flags: { kubeconfig, ...flags }, env });
    operators.add(started);
    service.add(started);
    return started;
  };

  return {
    plane,
    client,
    transport,
    connection,
    service,
    dir,
    objects,
    token,
    /** Everything the operator's account did. */
    audit: followAuditLog(plane.auditLogPath ?? '', userOf(account)),
    installRest: () => applyAll(client, objects.filter(isLeftOut)),
    /** Starts an operator process and puts it behind the Service. */
    start,
    /** The same, once it is ready. */
    startReady: async (operator: string, options: StartOptions = {}) => {
      const started = await start(operator, options);
      await untilReady(started);
      await eventually(() => service.ready.includes(operator));
      return started;
    },
    /** A TCP proxy in front of the API server, closed with the bed. */
    faultProxy: async () => {
      const proxy = await startFaultProxy(portOf(plane));
      closings.push(() => proxy.close());
      return proxy;
    },
    /** A recording proxy in front of the API server, closed with the bed. */
    httpProxy: async () => {
      const proxy = await startHttpProxy(plane, { dir: certificatesDir, name: 'kube-apiserver' });
      closings.push(() => proxy.close());
      return proxy;
    },
    /** Ends every operator process and the control plane. */
    stop: async () => {
      await Promise.all([...operators].map((operator) => operator.kill()));
      await Promise.all(closings.map((close) => close()));
      await service.close();
      await client.close();
      await plane.stop();
      rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

export type OperatorBed = Awaited<ReturnType<typeof startOperatorBed>>;

/** Waits until `/readyz` says yes; fails with what it said last, or with the last lines of a process that has ended. */
export async function untilReady(operator: OperatorProcess, withinMs = patienceMs): Promise<void> {
  await eventually(async () => {
    const readiness = await operator.readiness();
    if (readiness?.ok === true) return;
    const failing = readiness?.checks.filter(({ ok }) => !ok).map(({ name, reason }) => `${name}: ${reason ?? ''}`);
    const last = operator.lines.slice(-3).map(({ msg }) => msg);
    throw new Error(`${operator.name} is not ready: ${(failing ?? last).join('; ')} ${operator.stderr}`);
  }, withinMs);
}

/** Waits until this process holds the lease and its controllers run. */
export async function untilLeading(operator: OperatorProcess, withinMs = patienceMs): Promise<void> {
  await eventually(async () => {
    const value = await operator.metric('controller_running{controller="agentruntime"}');
    if (value !== 1) throw new Error(`${operator.name} does not lead: controller_running is ${value ?? 'not told'}`);
  }, withinMs);
}

/** Waits until the controller has nothing to do, three looks in a row. */
export async function untilIdle(operator: OperatorProcess, withinMs = patienceMs): Promise<void> {
  let idle = 0;
  await eventually(async () => {
    const depth = await operator.metric('workqueue_depth{name="agentruntime"}');
    const active = await operator.metric('controller_runtime_active_workers{controller="agentruntime"}');
    idle = depth === 0 && active === 0 ? idle + 1 : 0;
    await sleep(100);
    if (idle < 3)
      throw new Error(`${operator.name} is busy: ${depth ?? '?'} keys due, ${active ?? '?'} passes under way`);
  }, withinMs);
}
