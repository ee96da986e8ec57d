// What a lab writes down about itself, so that a later command can find and end exactly what was started.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Component } from './component.ts';
import { labDir } from './locations.ts';
import { isRunning, type ProcessIdentity } from './process-identity.ts';

interface StartedLab {
  readonly name: string;
  readonly startedAt: string;
  /** False while it starts and after a start that did not come to its end. */
  readonly isComplete: boolean;
  readonly server: string;
  /** Where processes of the host are reached from the API server, such as webhooks of a test. */
  readonly hostAddress: string;
  readonly processes: readonly Component[];
}

/** Control plane on loopback ports of the host: no pods run. */
export interface ControlPlaneLab extends StartedLab {
  readonly kind: 'control-plane';
}

/** A whole cluster of one node in namespaces of its own. */
export interface NodeLab extends StartedLab {
  readonly kind: 'node';
  /** The first process inside the namespaces; undefined until they exist. */
  readonly init: ProcessIdentity | undefined;
  readonly linkName: string;
  readonly cgroupRoot: string;
}

/** Somebody else's cluster, chosen by a context of the user's kubeconfig. */
export interface ContextLab {
  readonly kind: 'context';
  readonly name: string;
  readonly context: string;
}

export type LabState = ControlPlaneLab | NodeLab | ContextLab;

function statePath(name: string): string {
  return join(labDir(name), 'state.json');
}

/** The state of a lab, or undefined when there is none. */
export function readState(name: string): LabState | undefined {
  const path = statePath(name);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as LabState) : undefined;
}

/** The names of all labs there are, sorted. */
export function existingLabs(): readonly string[] {
  const all = dirname(labDir('any'));
  if (!existsSync(all)) return [];
  return readdirSync(all)
    .filter((name) => existsSync(statePath(name)))
    .sort();
}

/** Writes the state as a whole: a reader sees the old or the new one. */
export function writeState(state: LabState): void {
  const path = statePath(state.name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.partial`, `${JSON.stringify(state, null, 2)}\n`);
  renameSync(`${path}.partial`, path);
}

/** Whether a lab started to its end and every process of it still runs. */
export function isUp(state: LabState): boolean {
  return state.kind === 'context' || (state.isComplete && state.processes.every(isRunning));
}
