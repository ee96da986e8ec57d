/** The failures of the world that the engine throws, each with a stable code that callers and logs match on. */

/** Base of the engine's errors. `code` is stable; the message is for people. */
export class EngineError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** What the API server said when it refused: the fields of a `Status` object plus the request it belongs to. */
export interface ApiFailure {
  readonly status: number;
  /** Kubernetes' CamelCase reason (`NotFound`, `Conflict`, `Expired`), or `''`. */
  readonly reason: string;
  readonly message: string;
  /** From `Retry-After`, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  readonly details?: unknown;
  /** `GET /api/v1/…`: method and path, no query. */
  readonly request: string;
}

/** The API server answered, and the answer is a failure. Code `API_ERROR`. */
export class ApiError extends EngineError {
  readonly status: number;
  readonly reason: string;
  readonly retryAfterMs: number | undefined;
  readonly details: unknown;
  readonly request: string;

  constructor(failure: ApiFailure) {
    super('API_ERROR', `${failure.request}: ${failure.status} ${failure.reason} ${failure.message}`.trim());
    this.status = failure.status;
    this.reason = failure.reason;
    this.retryAfterMs = failure.retryAfterMs;
    this.details = failure.details;
    this.request = failure.request;
  }
}

/** No answer: refused, reset, timed out, or cut off in the middle. Whether a write happened is unknown. Code `API_UNREACHABLE`. */
export class ApiUnreachable extends EngineError {
  constructor(request: string, cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause);
    super('API_UNREACHABLE', `${request}: ${why}`, { cause });
  }
}

/** The cache was asked for a watch that has not completed its first list, or was never started. Code `NOT_SYNCED`. */
export class NotSynced extends EngineError {
  constructor(watch: string, why: string) {
    super('NOT_SYNCED', `watch ${watch} has no complete view yet: ${why}`);
  }
}

/** A write was about to be made without a lease that is certainly still ours. Code `LOST_LEASE`. */
export class LostLease extends EngineError {
  constructor(why: string) {
    super('LOST_LEASE', why);
  }
}

/** The kubeconfig, or the pod's service account files, cannot be used. Code `KUBECONFIG_INVALID`. */
export class InvalidKubeconfig extends EngineError {
  constructor(message: string, options?: ErrorOptions) {
    super('KUBECONFIG_INVALID', message, options);
  }
}

export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

export function isBadRequest(error: unknown): boolean {
  return error instanceof ApiError && error.status === 400;
}

export function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.status === 409;
}

/** There is an object of the name that was to be created. */
export function isAlreadyThere(error: unknown): boolean {
  return isConflict(error) && error instanceof ApiError && error.reason === 'AlreadyExists';
}

/** An admission webhook has denied it, in words that hold these. */
export function isRefusedAs(error: unknown, words: string): boolean {
  return error instanceof ApiError && error.status === 403 && error.message.includes(words);
}

/** The version asked for is too old, in either form: HTTP 410, or an ERROR event that says so. */
export function isExpired(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 410 || error.reason === 'Expired' || error.reason === 'Gone');
}

/** The object is there, but with another `metadata.uid` than the one sent: a namesake took its place, or it is gone. */
export function isOtherUid(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  if (error.status === 409) return /\buid\b/i.test(error.message);
  return error.status === 422 && /metadata\.uid/.test(`${error.message}${JSON.stringify(error.details ?? null)}`);
}

/** One sentence of an unknown failure, for states and health. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
