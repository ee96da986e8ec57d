// Shows what of a lab runs.
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { noSuchLab } from './chosen-lab.ts';
import { labKubeconfigPath } from './locations.ts';
import { childOf } from './node/namespaces.ts';
import { isRunning, type ProcessIdentity } from './process-identity.ts';
import type { Component } from './component.ts';
import { existingLabs, type LabState, readState } from './state.ts';

/** The text of `status` and whether the lab is up. */
export interface Status {
  readonly text: string;
  readonly isUp: boolean;
}

/** Describes the lab of this name. */
export function labStatus(name: string): Status {
  const state = readState(name);
  const labs = existingLabs();
  if (state === undefined) return { text: `${noSuchLab(name, labs, 'status')}\n`, isUp: false };
  const others = labs.filter((other) => other !== name);
  const kubeconfig = `KUBECONFIG=${relative(process.cwd(), labKubeconfigPath(name))}`;
  if (state.kind === 'context') {
    return {
      text: `The lab "${name}" is the context ${state.context} of your kubeconfig.\n${kubeconfig}\n`,
      isUp: true,
    };
  }
  const rows = state.processes.map((component) => componentRow(component, state));
  const table = [['COMPONENT', 'PID', 'STATE', 'MEMORY'], ...rows].map(
    ([component = '', pid = '', condition = '', memory = '']) =>
      `${component.padEnd(26)}${pid.padEnd(9)}${condition.padEnd(9)}${memory}`,
  );
  const isUp = state.isComplete && state.processes.every(isRunning);
  const kind = state.kind === 'node' ? 'a cluster of one node' : 'a control plane without a node';
  const lines = [
    `The lab "${name}" is ${kind}, ${isUp ? 'up' : 'not (wholly) up'}, started ${state.startedAt}.`,
    ...table,
    `API server ${state.server}, the host as seen from it ${state.hostAddress}`,
    kubeconfig,
    ...(others.length === 0 ? [] : [`Other labs: ${others.join(', ')}`]),
  ];
  return { text: `${lines.join('\n')}\n`, isUp };
}

function componentRow(component: Component, state: LabState): readonly string[] {
  if (!isRunning(component)) return [component.component, '-', 'ended', ''];
  // In a node lab the started process only enters the namespaces; its child does the work.
  const worker = state.kind === 'node' ? (childOf(component) ?? component) : component;
  return [component.component, String(worker.pid), 'running', residentMemory(worker)];
}

function residentMemory({ pid }: ProcessIdentity): string {
  const file = `/proc/${pid}/status`;
  const kilobytes = existsSync(file) ? readFileSync(file, 'utf8').match(/VmRSS:\s+(\d+)/)?.[1] : undefined;
  return kilobytes === undefined ? '' : `${Math.round(Number(kilobytes) / 1024)} MiB`;
}
