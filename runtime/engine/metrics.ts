/** The metrics registry: counters, gauges and histograms made once by name, whose series can be removed with their object. */

import * as prom from 'prom-client';

export type Labels<L extends string> = Readonly<Record<L, string>>;

export interface MetricSpec<L extends string> {
  readonly name: string;
  /** One sentence, shown to whoever scrapes. */
  readonly help: string;
  /** Label names. Every call must then give them all. Default: none. */
  readonly labels?: readonly L[];
}

export interface GaugeSpec<L extends string> extends MetricSpec<L> {
  /** Called at each scrape, to set what is only known by looking. Must not wait. */
  readonly collect?: (gauge: Gauge<L>) => void;
}

export interface HistogramSpec<L extends string> extends MetricSpec<L> {
  /** Upper bounds, ascending. Default: `secondsBuckets`. */
  readonly buckets?: readonly number[];
}

export interface Counter<L extends string> {
  /** Default `by`: 1. */
  inc(labels: Labels<L>, by?: number): void;
  /** The series is no longer exposed. Unknown labels are no error. */
  remove(labels: Labels<L>): void;
}

export interface Gauge<L extends string> {
  set(labels: Labels<L>, value: number): void;
  /** Adds `by`, which may be negative. Default 1. */
  add(labels: Labels<L>, by?: number): void;
  remove(labels: Labels<L>): void;
}

export interface Histogram<L extends string> {
  observe(labels: Labels<L>, value: number): void;
  remove(labels: Labels<L>): void;
}

/** The registry. Asking twice for one name gives the same metric; asking for it with another type or other labels throws. */
export interface Metrics {
  counter<L extends string = never>(spec: MetricSpec<L>): Counter<L>;
  gauge<L extends string = never>(spec: GaugeSpec<L>): Gauge<L>;
  histogram<L extends string = never>(spec: HistogramSpec<L>): Histogram<L>;
  /** Everything, in the Prometheus text format. */
  text(): Promise<string>;
  /** The HTTP content type of `text()`. */
  readonly contentType: string;
}

/** Half a millisecond to a minute: what admission, reconciling and API requests take. */
export const secondsBuckets: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];

export interface MetricsOptions {
  /** Expose CPU, memory, event loop and garbage collection of this process. Default true. */
  readonly process?: boolean;
}

/** A registry of its own, shared with nobody. */
export function createMetrics(options: MetricsOptions = {}): Metrics {
  const registry = new prom.Registry();
  if (options.process ?? true) exposeProcess(registry);
  const made = new Map<string, { readonly shape: string; readonly metric: unknown }>();

  /** The cast is sound: `shape` names the type and the labels, and is compared first. */
  const once = <M>(type: string, spec: MetricSpec<string>, make: () => M): M => {
    const shape = `${type}{${[...(spec.labels ?? [])].sort().join(',')}}`;
    const known = made.get(spec.name);
    if (known === undefined) {
      const metric = make();
      made.set(spec.name, { shape, metric });
      return metric;
    }
    if (known.shape !== shape) throw new Error(`metric ${spec.name} exists as ${known.shape}, asked for as ${shape}`);
    return known.metric as M;
  };

  return {
    counter: (spec) => once('counter', spec, () => counter(registry, spec)),
    gauge: (spec) => once('gauge', spec, () => gauge(registry, spec)),
    histogram: (spec) => once('histogram', spec, () => histogram(registry, spec)),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

const slowTimerMs = 1_000;

/**
 * Without the percentiles of event loop lag: they cost a timer that fires a hundred times a second, three times the CPU of all else in an
 * idle process. `nodejs_eventloop_lag_seconds`, measured at each scrape, stays.
 */
function exposeProcess(register: prom.Registry): void {
  prom.collectDefaultMetrics({ register, eventLoopMonitoringPrecision: slowTimerMs });
  for (const what of ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99']) {
    register.removeSingleMetric(`nodejs_eventloop_lag_${what}_seconds`);
  }
}

function common<L extends string>(registry: prom.Registry, spec: MetricSpec<L>) {
  return { name: spec.name, help: spec.help, labelNames: spec.labels ?? [], registers: [registry] };
}

function counter<L extends string>(registry: prom.Registry, spec: MetricSpec<L>): Counter<L> {
  const metric = new prom.Counter<L>(common(registry, spec));
  return {
    inc: (labels, by = 1) => metric.inc(labels, by),
    remove: (labels) => metric.remove(labels),
  };
}

function gauge<L extends string>(registry: prom.Registry, spec: GaugeSpec<L>): Gauge<L> {
  const { collect } = spec;
  const metric = new prom.Gauge<L>({ ...common(registry, spec), collect: () => collect?.(view) });
  const view: Gauge<L> = {
    set: (labels, value) => metric.set(labels, value),
    add: (labels, by = 1) => metric.inc(labels, by),
    remove: (labels) => metric.remove(labels),
  };
  return view;
}

function histogram<L extends string>(registry: prom.Registry, spec: HistogramSpec<L>): Histogram<L> {
  const metric = new prom.Histogram<L>({ ...common(registry, spec), buckets: [...(spec.buckets ?? secondsBuckets)] });
  return {
    observe: (labels, value) => metric.observe(labels, value),
    remove: (labels) => metric.remove(labels),
  };
}
