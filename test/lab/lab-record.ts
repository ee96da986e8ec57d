// Keeps a lab's state on disk in step with its start, so that even a start that is killed can be cleared away.
import type { Component } from './component.ts';
import { type ControlPlaneLab, type NodeLab, writeState } from './state.ts';

/** The state of a lab that is being started. */
export interface LabRecord<Lab> {
  /** Writes the changed state and returns it. */
  readonly change: (part: Partial<Lab>) => Lab;
  /** Writes down a started program and returns it. */
  readonly add: (component: Component) => Component;
}

/** Writes `initial` and every change to it. */
export function labRecord<Lab extends NodeLab | ControlPlaneLab>(initial: Lab): LabRecord<Lab> {
  let lab = initial;
  const change = (part: Partial<Lab>): Lab => {
    lab = { ...lab, ...part };
    writeState(lab);
    return lab;
  };
  const add = (component: Component): Component => {
    lab = { ...lab, processes: [...lab.processes, component] };
    writeState(lab);
    return component;
  };
  writeState(initial);
  return { change, add };
}
