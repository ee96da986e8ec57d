/** Requests with a body that are never reset once they have begun to be sent: whoever no longer waits lets go of them instead. */

import type { Dispatcher } from 'undici';

/** An option of a request that `tellsWhenSent` understands. */
export interface WhenSent {
  /** Called in the turn in which the request goes to its connection. */
  readonly onSent?: () => void;
}

/** For `compose`. */
export const tellsWhenSent: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const { onSent } = options as WhenSent;
  if (onSent !== undefined) {
    const start = handler.onRequestStart?.bind(handler);
    handler.onRequestStart = (controller, context) => {
      onSent();
      start?.(controller, context);
    };
  }
  return dispatch(options, handler);
};

/**
 * Sends a request that `signal` takes back while it waits for a connection, and lets go of afterwards: it rejects with the signal's reason,
 * and an answer that still comes is dropped. undici (8.13) closes and destroys a stream that is aborted; while the body of that stream is
 * not written, Node's HTTP/2 (26.12) then never returns and takes all memory. What is never answered ends with its connection, whose pings
 * fail.
 */
export async function unreset(
  send: (signal: AbortSignal, when: WhenSent) => Promise<Dispatcher.ResponseData>,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const unsent = new AbortController();
  let isSent = false;
  const sending = send(unsent.signal, { onSent: () => void (isSent = true) });
  return abandonable(sending, signal, () => {
    if (!isSent) unsent.abort(signal.reason);
    sending.then(({ body }) => body.dump()).catch(() => {});
  });
}

/** What `work` gives, unless `signal` ends first: then it rejects with the signal's reason, and `onAbandoned` is called. */
export async function abandonable<T>(work: Promise<T>, signal: AbortSignal, onAbandoned = (): void => {}): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abandon = (): void => {
    reject(signal.reason as Error);
    onAbandoned();
  };
  if (signal.aborted) abandon();
  else signal.addEventListener('abort', abandon, { once: true });
  work.catch(() => {});
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', abandon);
  }
}
