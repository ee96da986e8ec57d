/** A transport whose answers a test gives itself. */

import { ApiError } from '../../runtime/engine/errors.ts';
import type { RequestSpec, Transport } from '../../runtime/engine/transport.ts';

/** `answer` returns the JSON, or throws. The guard of a request runs first, as in the real one. */
export function scriptedTransport(
  answer: (spec: RequestSpec) => unknown,
): Transport & { readonly sent: RequestSpec[] } {
  const sent: RequestSpec[] = [];
  return {
    sent,
    request: async (spec) => {
      spec.guard?.();
      sent.push(spec);
      return await answer(spec);
    },
    stream: () => Promise.reject(new Error('no watches here')),
    dropConnections: () => {},
    close: () => Promise.resolve(),
  };
}

export function refused(status: number): ApiError {
  return new ApiError({ status, reason: '', message: 'refused', request: 'a test' });
}
