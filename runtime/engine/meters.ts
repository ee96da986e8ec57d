/** A controller's metrics, under the names that dashboards made for controller-runtime know. */

import type { Metrics } from './metrics.ts';

export type ReconcileResult = 'success' | 'requeue' | 'requeue_after' | 'error';

export interface ControllerMeter {
  result(result: ReconcileResult): void;
  took(ms: number): void;
  active(workers: number): void;
}

export function controllerMeter(metrics: Metrics, controller: string, concurrency: number): ControllerMeter {
  const labels = { controller };
  const total = metrics.counter<'controller' | 'result'>({
    name: 'controller_runtime_reconcile_total',
    help: 'Passes by controller and result.',
    labels: ['controller', 'result'],
  });
  const errors = metrics.counter<'controller'>({
    name: 'controller_runtime_reconcile_errors_total',
    help: 'Passes that failed, conflicts not counted.',
    labels: ['controller'],
  });
  const seconds = metrics.histogram<'controller'>({
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'Seconds a pass took.',
    labels: ['controller'],
  });
  const workers = metrics.gauge<'controller'>({
    name: 'controller_runtime_active_workers',
    help: 'Passes under way.',
    labels: ['controller'],
  });
  const most = metrics.gauge<'controller'>({
    name: 'controller_runtime_max_concurrent_reconciles',
    help: 'Most passes at once.',
    labels: ['controller'],
  });
  most.set(labels, concurrency);
  errors.inc(labels, 0);
  return {
    result: (result) => {
      total.inc({ ...labels, result });
      if (result === 'error') errors.inc(labels);
    },
    took: (ms) => seconds.observe(labels, ms / 1000),
    active: (count) => workers.set(labels, count),
  };
}
