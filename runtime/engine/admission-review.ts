/** The AdmissionReview v1 envelope: request out of it, response into it. */

import { Buffer } from 'node:buffer';
import { EngineError } from './errors.ts';
import { isObject, type JsonObject } from './json.ts';
import { jsonPatch } from './json-patch.ts';
import type { AdmissionRequest, KubeObject, Kind, Verdict, Webhook } from './types.ts';

const apiVersion = 'admission.k8s.io/v1';
const kind = 'AdmissionReview';

/** The body of an answer, as `admission.k8s.io/v1` defines it. */
export interface AdmissionReview {
  readonly apiVersion: string;
  readonly kind: string;
  readonly response: AdmissionResponse;
}

export interface AdmissionResponse {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status?: { readonly code: number; readonly reason: string; readonly message: string };
  readonly patchType?: 'JSONPatch';
  /** Base64 of the RFC 6902 operations. */
  readonly patch?: string;
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

/** What was sent is no admission review that this webhook can judge. The message is a sentence for whoever sent it. */
export class MalformedReview extends EngineError {
  constructor(message: string) {
    super('ADMISSION_MALFORMED', message);
  }
}

/** The review is in order, and about another kind. */
class OtherKind extends MalformedReview {
  readonly uid: string;

  constructor(message: string, uid: string) {
    super(message);
    this.uid = uid;
  }
}

/**
 * Answers one review, given as parsed JSON. No input or output of its own: a command-line tool answers by the same path.
 * Throws `MalformedReview`, and whatever the webhook's `review` throws.
 */
export async function respond<T extends KubeObject>(review: unknown, webhook: Webhook<T>): Promise<AdmissionReview> {
  const { request, verdict } = received(review, webhook);
  return admissionReview(request, verdict ?? (await webhook.review(request)));
}

/** The request in a review, with the verdict where the webhook has it ready: on another kind. */
export function received<T extends KubeObject>(
  review: unknown,
  { kind: expected, otherKinds: verdict }: Webhook<T>,
): { readonly request: AdmissionRequest<T>; readonly verdict?: Verdict<T> } {
  try {
    return { request: admissionRequest(review, expected) };
  } catch (error) {
    if (!(error instanceof OtherKind) || verdict === undefined) throw error;
    return {
      request: { uid: error.uid, operation: 'CREATE', namespace: '', name: '', dryRun: false, user: '' },
      verdict,
    };
  }
}

/** The request in a review of this kind, or `MalformedReview`. */
export function admissionRequest<T extends KubeObject>(review: unknown, expected: Kind<T>): AdmissionRequest<T> {
  if (!isObject(review) || review['apiVersion'] !== apiVersion || review['kind'] !== kind) {
    throw new MalformedReview(`the body must be an ${kind} of ${apiVersion}`);
  }
  const { request } = review;
  if (!isObject(request)) throw new MalformedReview(`the ${kind} has no request`);
  if (typeof request['uid'] !== 'string' || request['uid'] === '') throw new MalformedReview('the request has no uid');
  checkKind(request['kind'], expected, request['uid']);
  const operation = operationOf(request['operation']);
  const object = objectOf(request, 'object', expected);
  const oldObject = objectOf(request, 'oldObject', expected);
  const missing = missingObject(operation, object, oldObject);
  if (missing !== undefined) throw new MalformedReview(`a ${operation} request must have an ${missing}`);
  return {
    uid: request['uid'],
    operation,
    namespace: text(request['namespace']),
    name: text(request['name']),
    object,
    oldObject,
    dryRun: request['dryRun'] === true,
    user: isObject(request['userInfo']) ? text(request['userInfo']['username']) : '',
  };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function checkKind(actual: unknown, expected: Kind, uid: string): void {
  const given = isObject(actual) ? actual : {};
  const version = text(given['version']);
  const groupVersion = text(given['group']) === '' ? version : `${text(given['group'])}/${version}`;
  if (groupVersion === expected.apiVersion && given['kind'] === expected.kind) return;
  const message = wrongKind('the request', expected, `${text(given['kind'])} of ${groupVersion}`);
  throw isObject(actual) ? new OtherKind(message, uid) : new MalformedReview(message);
}

function wrongKind(where: string, { apiVersion, kind }: Kind, given: string): string {
  return `${where} is about ${quoted(given)}; this webhook judges ${kind} of ${apiVersion}`;
}

/** Foreign text in a message: bounded, on one line. */
function quoted(value: string): string {
  return JSON.stringify(value.length > 100 ? `${value.slice(0, 100)}…` : value);
}

const operations = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const;

function operationOf(value: unknown): AdmissionRequest['operation'] {
  const known = operations.find((operation) => operation === value);
  if (known === undefined) throw new MalformedReview(`the operation must be one of ${operations.join(', ')}`);
  return known;
}

/** The cast is sound: the API server has validated the object against its kind, and that it is of the kind is checked. */
function objectOf<T extends KubeObject>(request: JsonObject, member: string, expected: Kind<T>): T | undefined {
  const object = request[member];
  if (object === undefined || object === null) return undefined;
  if (!isObject(object)) throw new MalformedReview(`${member} must be an object`);
  if (object['apiVersion'] !== expected.apiVersion || object['kind'] !== expected.kind) {
    throw new MalformedReview(wrongKind(member, expected, `${text(object['kind'])} of ${text(object['apiVersion'])}`));
  }
  if (!isObject(object['metadata'])) throw new MalformedReview(`${member} has no metadata`);
  return object as unknown as T;
}

function missingObject(
  operation: AdmissionRequest['operation'],
  object: unknown,
  oldObject: unknown,
): string | undefined {
  if (operation !== 'DELETE' && object === undefined) return 'object';
  if (operation === 'DELETE' && oldObject === undefined) return 'oldObject';
  return undefined;
}

/** The answer to a request: the verdict as the API server reads it. */
export function admissionReview<T extends KubeObject>(
  request: AdmissionRequest<T>,
  verdict: Verdict<T>,
): AdmissionReview {
  const warnings = headerWarnings(verdict.warnings ?? []);
  return {
    apiVersion,
    kind,
    response: {
      uid: request.uid,
      ...outcome(request, verdict),
      ...(warnings.length === 0 ? {} : { warnings }),
      auditAnnotations: { decision: verdict.kind, reason: verdict.reason },
    },
  };
}

type Outcome = Pick<AdmissionResponse, 'allowed' | 'status' | 'patchType' | 'patch'>;

function outcome<T extends KubeObject>(request: AdmissionRequest<T>, verdict: Verdict<T>): Outcome {
  if (verdict.kind === 'deny') {
    const message = verdict.note === '' ? verdict.reason : verdict.note;
    return { allowed: false, status: { code: 403, reason: 'Forbidden', message } };
  }
  if (verdict.kind === 'allow') return { allowed: true };
  if (request.object === undefined)
    throw new EngineError('ADMISSION_VERDICT', `there is nothing to mutate on ${request.operation}`);
  const operations = jsonPatch(request.object, verdict.object);
  if (operations.length === 0) return { allowed: true };
  return { allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') };
}

/** Beyond these the API server itself cuts or drops warnings. */
const longestWarning = 256;
const mostWarningText = 4096;

/** Warnings as HTTP header values, in which the API server takes no control characters: one line each, at most 256 characters, 4,096 in all; what is left out is said. */
function headerWarnings(warnings: readonly string[]): readonly string[] {
  const fitting: string[] = [];
  let length = longestWarning;
  for (const warning of warnings) {
    const line = oneLine(warning);
    length += line.length;
    if (length > mostWarningText)
      return [...fitting, `${warnings.length - fitting.length} more warnings are not shown`];
    if (line !== '') fitting.push(line);
  }
  return fitting;
}

function oneLine(warning: string): string {
  const line = warning
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim();
  if (line.length <= longestWarning) return line;
  return `${line.slice(0, longestWarning - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
