/** Reads an API server's audit log as it grows: who asked for what, and how it was answered. */

import { closeSync, existsSync, openSync, readSync, writeFileSync } from 'node:fs';
import { Buffer } from 'node:buffer';
import path from 'node:path';
import { StringDecoder } from 'node:string_decoder';

/** One request, as the API server's audit log has it, written when it was answered. */
export interface AuditRequest {
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly userAgent?: string;
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  /** Only of kinds that the policy asks bodies for. */
  readonly requestObject?: unknown;
  readonly requestReceivedTimestamp: string;
}

/** Metadata of every request, and the bodies of Leases, in a file that an API server takes as `--audit-policy-file`. */
export function writeAuditPolicy(dir: string): string {
  const file = path.join(dir, 'audit-policy.json');
  const policy = {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived', 'ResponseStarted'],
    rules: [
      {
        level: 'Request',
        verbs: ['create', 'update', 'patch'],
        resources: [{ group: 'coordination.k8s.io', resources: ['leases'] }],
      },
      { level: 'Metadata', users: [] },
    ],
  };
  writeFileSync(file, JSON.stringify(policy));
  return file;
}

const writeVerbs: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** Whether a request changes something. */
export function isWrite({ verb }: AuditRequest): boolean {
  return writeVerbs.has(verb);
}

/** `patch apps/deployments/weather in team1`, for messages and comparisons. */
export function textOf({ verb, objectRef = {} }: AuditRequest): string {
  const { apiGroup, resource, subresource, namespace, name } = objectRef;
  const what = [apiGroup, resource, subresource].filter(Boolean).join('/');
  return [verb, what, name, namespace === undefined ? '' : `in ${namespace}`].filter(Boolean).join(' ');
}

export interface AuditLog {
  /** Requests of one account whose answers are complete, from the beginning of the log. */
  requests(): readonly AuditRequest[];
  /** Those from a position on: the length of an earlier `requests()`. */
  since(position: number): readonly AuditRequest[];
  readonly position: number;
}

/** Follows the log file, keeping what `who` did: a user by name, or a client by what it calls itself. */
export function followAuditLog(file: string, who: string, by: 'username' | 'userAgent' = 'username'): AuditLog {
  const kept: AuditRequest[] = [];
  const decoder = new StringDecoder('utf8');
  let offset = 0;
  let rest = '';
  const needle = JSON.stringify(who);

  const keep = (line: string): void => {
    if (!line.includes(needle)) return;
    const request = JSON.parse(line) as AuditRequest;
    if ((by === 'username' ? request.user.username : request.userAgent) === who) kept.push(request);
  };
  const read = (): readonly AuditRequest[] => {
    if (!existsSync(file)) return kept;
    const descriptor = openSync(file, 'r');
    const buffer = Buffer.alloc(1024 * 1024);
    for (;;) {
      const count = readSync(descriptor, buffer, 0, buffer.length, offset);
      if (count === 0) break;
      offset += count;
      const lines = (rest + decoder.write(buffer.subarray(0, count))).split('\n');
      rest = lines.pop() ?? '';
      lines.forEach(keep);
    }
    closeSync(descriptor);
    return kept;
  };
  return {
    requests: read,
    since: (position) => read().slice(position),
    get position() {
      return read().length;
    },
  };
}
