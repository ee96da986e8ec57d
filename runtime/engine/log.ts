/** The structured log: JSON lines on standard output, errors as code, message and causes, secrets blanked. */

import { pino } from 'pino';
import type { Log } from './types.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface LogOptions {
  readonly level: LogLevel;
  /** The `name` field of every line: which program speaks. */
  readonly name: string;
  /** Receives each line with its newline. Default: standard output, synchronously. */
  readonly write?: (line: string) => void;
}

type Fields = Readonly<Record<string, unknown>>;

/** A log whose lines carry `level` (a word), `time` (RFC 3339), `name`, `msg` and the given fields. */
export function createLog(options: LogOptions): Log {
  const { write } = options;
  const settings: pino.LoggerOptions = {
    level: options.level,
    base: { name: options.name },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  };
  return wrap(
    write === undefined ? pino(settings, pino.destination({ fd: 1, sync: true })) : pino(settings, { write }),
  );
}

function wrap(logger: pino.Logger): Log {
  const at = (level: 'debug' | 'info' | 'warn' | 'error') => (message: string, fields?: Fields) => {
    if (!logger.isLevelEnabled(level)) return;
    if (fields === undefined) logger[level](message);
    else logger[level](loggable(fields), message);
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => wrap(logger.child(loggable(fields))),
  };
}

const maxDepth = 5;
const maxEntries = 50;
const maxCauses = 5;
const maxText = 4096;
const blanked = '[redacted]';

/** The fields as they may be written: no secret by name or by look, no whole Kubernetes object, bounded in depth and size. */
export function loggable(fields: Fields): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) out[key] = field(key, value, 0);
  return out;
}

const secretName = /token|secret|passw|authorization|cookie|credential|private_?key|api_?key|bearer|kubeconfig/i;
/** What such a name may end in and still be harmless: a reference to a secret is not the secret. */
const reference = /(name|names|namespace|ref|path|file|url|count|bytes|seconds|ms)$/i;

function field(key: string, value: unknown, depth: number): unknown {
  const harmless = typeof value === 'boolean' || value === undefined || value === null;
  if (!harmless && secretName.test(key) && !reference.test(key)) return blanked;
  return plain(value, depth);
}

function plain(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return text(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'function' || typeof value === 'symbol') return `[${typeof value}]`;
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Error) return errorFields(value);
  if (value instanceof Date) return value.toJSON();
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (depth >= maxDepth) return '[deeper]';
  if (Array.isArray(value)) return value.slice(0, maxEntries).map((item) => plain(item, depth + 1));
  return isKubeObject(value) ? objectName(value) : nested(value, depth);
}

function nested(value: object, depth: number): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value).slice(0, maxEntries)) out[key] = field(key, item, depth + 1);
  return out;
}

interface Named {
  readonly kind: unknown;
  readonly metadata: { readonly namespace?: unknown; readonly name?: unknown };
}

function isKubeObject(value: object): value is Named {
  return 'kind' in value && 'metadata' in value && typeof value.metadata === 'object' && value.metadata !== null;
}

function objectName({ kind, metadata }: Named): Record<string, unknown> {
  return { kind, namespace: metadata.namespace, name: metadata.name };
}

/** An error as fields: `code` and `message`, then those of its causes. The stack only where no code says that it was foreseen. */
export function errorFields(error: Error): Record<string, unknown> {
  const out = errorLine(error);
  const causes: Record<string, unknown>[] = [];
  let next: unknown = error.cause;
  while (next instanceof Error && causes.length < maxCauses) {
    causes.push(errorLine(next));
    next = next.cause;
  }
  if (next !== undefined && !(next instanceof Error)) causes.push({ message: text(describe(next)) });
  if (causes.length > 0) out['causes'] = causes;
  if (error instanceof AggregateError) {
    out['errors'] = error.errors.slice(0, maxCauses).map((one: unknown) => plain(one, maxDepth - 1));
  }
  if (out['code'] === undefined && error.stack !== undefined) out['stack'] = text(error.stack);
  return out;
}

function describe(cause: unknown): string {
  return typeof cause === 'string' ? cause : `[${typeof cause}]`;
}

function errorLine(error: Error & { readonly code?: unknown }): Record<string, unknown> {
  const { code } = error;
  return {
    code: typeof code === 'string' || typeof code === 'number' ? code : undefined,
    message: text(error.message),
  };
}

const jwt = /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g;
const bearer = /\b(bearer|basic)\s+[\w.~+/-]{8,}=*/gi;
const privateKey = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g;
const userInfo = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@:]*:[^\s/@]*@/gi;

/** Text with whatever looks like a credential blanked, cut at 4,096 characters. */
function text(value: string): string {
  if (value.length < 12) return value;
  const clean = value
    .replace(privateKey, blanked)
    .replace(jwt, blanked)
    .replace(bearer, `$1 ${blanked}`)
    .replace(userInfo, `$1${blanked}@`);
  return clean.length > maxText ? `${clean.slice(0, maxText)}… (${clean.length} characters)` : clean;
}
