/** Knows the failure of a request that was never sent, because its HTTP/2 session takes no more. */

const codes: readonly unknown[] = ['ERR_HTTP2_INVALID_SESSION', 'ERR_HTTP2_GOAWAY_SESSION'];
const deepest = 5;

/**
 * True when the session had ended before the request was begun. undici (8.13) takes a new connection when Node says so by throwing; Node (26.12)
 * says it by the stream, and undici keeps giving out the session until its socket has closed: on a connection that is silent that is
 * many minutes, in which every request fails. So whoever sees this must take another connection; nothing was sent, writes may be repeated.
 */
export function isOfDeadSession(error: unknown): boolean {
  let next = error;
  for (let depth = 0; depth < deepest && next instanceof Error; depth += 1) {
    if ('code' in next && codes.includes(next.code)) return true;
    next = next.cause;
  }
  return false;
}
