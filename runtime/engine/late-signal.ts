/** An abort that reaches a request only when what it has begun to send is on its way. */

/**
 * Follows `signal` one turn of the event loop late. Node's HTTP/2 (26.12) never returns, and takes all memory, when a stream with a body
 * is reset in the turn that opened it. A process that stood still wakes to just that: the start of a request and its deadline, or the loss
 * of the lease, are due in the same turn.
 */
export function lateSignal(signal: AbortSignal): AbortSignal {
  const late = new AbortController();
  const abort = (): void => void setImmediate(() => late.abort(signal.reason));
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return late.signal;
}
