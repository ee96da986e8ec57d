/** The processor: Envoy asks it about each request's headers, and one of the two rules decides. */

import type { Message } from '@bufbuild/protobuf';
import { type Metadata, type ServerDuplexStream, status } from '@grpc/grpc-js';
import type { Clock } from '../../engine/clock.ts';
import { createDeadline } from '../../engine/deadline.ts';
import type { Log, Metrics } from '../../engine/types.ts';
import type { Decide, Decision, Direction, Refusal, RequestHead } from '../decision.ts';
import { methodOf } from '../envoy/grpc/method.ts';
import { serveGrpc } from '../envoy/grpc/server.ts';
import { directionKey } from '../envoy/names.ts';
import { headersOf, type ProcessingRequest, requestHead } from './headers.ts';
import { processorMeter } from './meter.ts';
import { reply } from './reply.ts';

export interface ProcessorOptions {
  /** Path of the socket; what is there already is replaced. */
  readonly socket: string;
  readonly rules: Readonly<Record<Direction, Decide>>;
  /** For one decision, in milliseconds. Default 8,000; must be below `Limits.processorSeconds`, or Envoy's bare answer comes first. */
  readonly deadlineMs?: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface Processor {
  /** Ends at once: Envoy refuses every request from here on. */
  close(): void;
}

const method = methodOf<ProcessingRequest, Message>('envoy.service.ext_proc.v3.ExternalProcessor', 'Process');

const defaultDeadlineMs = 8_000;

/**
 * Listens. Each call is one request: its first message is answered and the call ended, which tells Envoy that nothing else of the request is
 * wanted. A call that Envoy ends first is a client that went away: the rule's signal ends, and nothing is said.
 */
export async function serveProcessor(options: ProcessorOptions): Promise<Processor> {
  const { socket, log } = options;
  const meter = processorMeter(options.metrics, () => options.clock.monotonicMs());

  function process(call: ServerDuplexStream<ProcessingRequest, Message>): void {
    const direction = directionOf(call.metadata);
    const gone = new AbortController();
    let isAsked = false;
    call.on('cancelled', () => gone.abort());
    call.on('error', () => gone.abort());
    if (direction === undefined) {
      log.error('Envoy calls the processor without a direction');
      call.emit('error', { code: status.INVALID_ARGUMENT, details: `metadata ${directionKey} is missing` });
      return;
    }
    call.on('data', (message: ProcessingRequest) => {
      if (isAsked) return;
      isAsked = true;
      void answer(call, { direction, message, signal: gone.signal });
    });
    call.on('end', () => {
      if (!isAsked) call.end();
    });
  }

  async function answer(call: ServerDuplexStream<ProcessingRequest, Message>, question: Question): Promise<void> {
    const headers = headersOf(question.message);
    if (headers !== undefined) {
      const measured = meter.begin(question.direction);
      const decision = await decide(
        options,
        requestHead(question.direction, headers, question.message),
        question.signal,
      );
      measured(question.signal.aborted ? undefined : decision);
      if (question.signal.aborted) return;
      call.write(reply(decision, headers));
    }
    call.end();
  }

  return serveGrpc({ socket, method, handler: process });
}

interface Question {
  readonly direction: Direction;
  readonly message: ProcessingRequest;
  readonly signal: AbortSignal;
}

function directionOf(metadata: Metadata): Direction | undefined {
  const [value] = metadata.get(directionKey);
  return value === 'inbound' || value === 'outbound' ? value : undefined;
}

/** The rule's decision; a refusal when it fails or does not come in time. */
async function decide(options: ProcessorOptions, head: RequestHead, gone: AbortSignal): Promise<Decision> {
  const { rules, clock, log, deadlineMs = defaultDeadlineMs } = options;
  const deadline = createDeadline(clock, gone, deadlineMs);
  const over = new Promise<Refusal>((resolve) => {
    deadline.signal.addEventListener('abort', () => resolve(late), { once: true });
  });
  try {
    return await Promise.race([rules[head.direction](head, deadline.signal), over]);
  } catch (error) {
    log.error('a rule failed, and the request was refused', { direction: head.direction, error });
    return failed;
  } finally {
    deadline.end();
  }
}

const late: Refusal = {
  kind: 'refuse',
  reason: 'deadline',
  status: 503,
  error: 'temporarily_unavailable',
  description:
    "The request could not be decided in time; try again, and see the log of the pod's container envoy-proxy.",
  headers: { 'retry-after': '1' },
};

const failed: Refusal = {
  kind: 'refuse',
  reason: 'internal_error',
  status: 500,
  error: 'server_error',
  description: "The request could not be decided; the log of the pod's container envoy-proxy says why.",
};
