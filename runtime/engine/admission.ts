/** From the body of an HTTP request to the answer of a webhook: limits, deadline, metrics, and errors as sentences. */

import type { Buffer } from 'node:buffer';
import { type AdmissionReview, MalformedReview, admissionReview, received } from './admission-review.ts';
import { type Clock, systemClock } from './clock.ts';
import { depthExceeds } from './json-depth.ts';
import type { Metrics } from './metrics.ts';
import type { AdmissionRequest, KubeObject, Log, Verdict, Webhook } from './types.ts';

export { respond } from './admission-review.ts';

/** An HTTP answer. 200 carries an AdmissionReview; anything else a sentence, which the API server shows to the user. */
export interface AdmissionAnswer {
  readonly status: number;
  readonly body: string;
}

export interface AdmissionOptions {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock?: Clock;
  /** Most reviews under way at once; the next is answered 429. Default 256. */
  readonly maxInFlight?: number;
}

export interface Admission {
  /** Never throws. `deadlineMs`: the answer is given by then, whatever the review does; see `deadlineFrom`. */
  answer(webhook: Webhook, body: Buffer, deadlineMs: number): Promise<AdmissionAnswer>;
  /** Reviews under way. */
  readonly inFlight: number;
}

/** More than any Kubernetes object has; the API server's own limit is far higher. */
const deepest = 500;

/** Answers for all webhooks of a process, which share the limit and the metrics. */
export function createAdmission(options: AdmissionOptions): Admission {
  const { log, clock = systemClock, maxInFlight = 256 } = options;
  const meter = admissionMeter(options.metrics);
  const malformedLog = sparing(log, clock);
  let inFlight = 0;

  async function answer(webhook: Webhook, body: Buffer, deadlineMs: number): Promise<AdmissionAnswer> {
    if (inFlight >= maxInFlight) {
      meter.refused(webhook.name);
      return { status: 429, body: `${maxInFlight} admission requests are under way already; try again` };
    }
    inFlight += 1;
    const done = meter.begin(webhook.name);
    const begun = clock.monotonicMs();
    const answered = await judge(webhook, body, deadlineMs).catch((error: unknown) =>
      failure(webhook, error, error instanceof MalformedReview ? malformedLog : log),
    );
    done(answered.status, clock.monotonicMs() - begun);
    meter.decided(webhook.name, answered.decision, answered.reason);
    inFlight -= 1;
    return answered;
  }

  async function judge(webhook: Webhook, body: Buffer, deadlineMs: number): Promise<Answered> {
    const { request, verdict: ready } = received(parse(body), webhook);
    const verdict = ready ?? (await within(clock, deadlineMs, webhook.review(request)));
    if (verdict === 'late') throw new LateReview(deadlineMs);
    return answered(request, verdict);
  }

  return {
    answer,
    get inFlight() {
      return inFlight;
    },
  };
}

interface Answered extends AdmissionAnswer {
  readonly decision: string;
  readonly reason: string;
}

function answered<T extends KubeObject>(request: AdmissionRequest<T>, verdict: Verdict<T>): Answered {
  const review: AdmissionReview = admissionReview(request, verdict);
  return { status: 200, body: JSON.stringify(review), decision: verdict.kind, reason: verdict.reason };
}

function parse(body: Buffer): unknown {
  if (depthExceeds(body, deepest)) throw new MalformedReview(`the body is nested more than ${deepest} levels deep`);
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    throw new MalformedReview('the body is not JSON');
  }
}

const sparingMs = 10_000;

/** Warnings at most every ten seconds: whoever reaches the port can send nonsense, and should not fill the log. */
function sparing(log: Log, clock: Clock): Log {
  let silentUntil = -Infinity;
  let unsaid = 0;
  return {
    ...log,
    warn: (message, fields) => {
      unsaid += 1;
      if (clock.monotonicMs() < silentUntil) return;
      silentUntil = clock.monotonicMs() + sparingMs;
      log.warn(message, { ...fields, times: unsaid });
      unsaid = 0;
    },
  };
}

class LateReview extends Error {
  readonly code = 'ADMISSION_DEADLINE';

  constructor(deadlineMs: number) {
    super(`the review did not end within ${Math.round(deadlineMs)} ms`);
  }
}

/** The verdict, or `late`. A review that ends later, well or badly, is of no consequence. */
function within<T>(clock: Clock, ms: number, review: Promise<T>): Promise<T | 'late'> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => resolve('late'));
    review.then(resolve, reject).finally(cancel);
  });
}

/** What the sender may know: its own mistake in words, ours by its code alone. */
function failure(webhook: Webhook, error: unknown, log: Log): Answered {
  if (error instanceof MalformedReview) {
    log.warn('admission request refused as malformed', { webhook: webhook.name, why: error.message });
    return { status: 400, body: error.message, decision: 'error', reason: 'malformed' };
  }
  const code = codeOf(error);
  log.error('admission review failed', { webhook: webhook.name, code, error });
  if (error instanceof LateReview) return { status: 500, body: error.message, decision: 'error', reason: 'deadline' };
  const body = `webhook ${webhook.name} could not decide (${code}); its log says why`;
  return { status: 500, body, decision: 'error', reason: 'failed' };
}

function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error ? error.name : 'UNKNOWN';
}

/** Label values come from a small set; a webhook that makes up reasons may not grow the metrics without bound. */
const mostReasons = 64;
const longestReason = 100;

function admissionMeter(metrics: Metrics) {
  const latency = metrics.histogram({
    name: 'controller_runtime_webhook_latency_seconds',
    help: 'Time to answer an admission request, in seconds.',
    labels: ['webhook'],
  });
  const requests = metrics.counter({
    name: 'controller_runtime_webhook_requests_total',
    help: 'Admission requests by HTTP status code.',
    labels: ['webhook', 'code'],
  });
  const inFlight = metrics.gauge({
    name: 'controller_runtime_webhook_requests_in_flight',
    help: 'Admission requests being answered.',
    labels: ['webhook'],
  });
  const decisions = metrics.counter({
    name: 'rossoctl_admission_decisions_total',
    help: 'Admission decisions by their reason.',
    labels: ['webhook', 'decision', 'reason'],
  });
  const reasons = new Set<string>();

  const bounded = (reason: string): string => {
    if (reasons.has(reason)) return reason;
    if (reasons.size >= mostReasons || reason.length > longestReason) return 'other';
    reasons.add(reason);
    return reason;
  };

  return {
    refused: (webhook: string) => requests.inc({ webhook, code: '429' }),
    begin: (webhook: string) => {
      inFlight.add({ webhook });
      return (status: number, ms: number): void => {
        inFlight.add({ webhook }, -1);
        latency.observe({ webhook }, ms / 1000);
        requests.inc({ webhook, code: String(status) });
      };
    },
    decided: (webhook: string, decision: string, reason: string) =>
      decisions.inc({ webhook, decision, reason: bounded(reason) }),
  };
}
