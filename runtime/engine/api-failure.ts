/** Kubernetes `Status` objects, wherever they come from, as `ApiError`. */

import { ApiError } from './errors.ts';
import { isObject, type JsonObject, member } from './json.ts';

export interface FailedAnswer {
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | readonly string[] | undefined;
  /** `GET /api/v1/…`. */
  readonly request: string;
}

/** A refused request. A body that is no `Status` (a proxy's page) becomes the message, cut at 500 characters. */
export function refusal({ status, text, retryAfter, request }: FailedAnswer): ApiError {
  const body = parsed(text);
  const fields = fieldsOf(body ?? { message: text.slice(0, 500) });
  return new ApiError({ ...fields, status, request, retryAfterMs: fields.retryAfterMs ?? retryAfterMs(retryAfter) });
}

/** The object of a watch's ERROR event. */
export function watchFailure(object: unknown, request: string): ApiError {
  const code = member(object, 'code');
  return new ApiError({
    ...fieldsOf(isObject(object) ? object : {}),
    status: typeof code === 'number' ? code : 500,
    request,
  });
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function fieldsOf({ reason, message, details }: JsonObject) {
  const seconds = member(details, 'retryAfterSeconds');
  return {
    reason: typeof reason === 'string' ? reason : '',
    message: typeof message === 'string' ? message : '',
    details,
    retryAfterMs: typeof seconds === 'number' ? seconds * 1000 : undefined,
  };
}

/** `Retry-After` in seconds, as milliseconds; the API server never sends a date. */
function retryAfterMs(header: string | readonly string[] | undefined): number | undefined {
  const seconds = typeof header === 'string' ? Number(header) : Number.NaN;
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}
