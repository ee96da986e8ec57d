/** Counts requests to the API server from its audit log, by account. */

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export interface AuditedRequest {
  /** `patch`, `list`, … */
  readonly verb: string;
  /** `agentruntimes/status`. */
  readonly resource: string;
  /** Empty: of the cluster. */
  readonly namespace: string;
  /** When the API server received it, milliseconds of the wall clock. */
  readonly at: number;
  readonly code: number;
}

export interface Audit {
  /** Requests received at `from` (wall clock) or later that have ended; neither lease renewals nor watches. */
  since(from: number): readonly AuditedRequest[];
  /** Renewals of the lease since then. */
  leasesSince(from: number): number;
  /** Resolves when there has been no request for `quietMs`; the wall-clock time of the last one, or `from`. */
  untilQuiet(from: number, quietMs?: number): Promise<number>;
}

interface Line {
  readonly verb: string;
  readonly user?: { readonly username?: string };
  readonly requestReceivedTimestamp: string;
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string; readonly namespace?: string };
  readonly responseStatus?: { readonly code?: number };
}

/** Follows the log of one control plane for one account. */
export function openAudit(logPath: string, account: string): Audit {
  const seen: AuditedRequest[] = [];
  const renewals: number[] = [];
  let offset = 0;
  let rest = '';

  const take = (text: string): void => {
    if (!text.includes(account)) return;
    const line = JSON.parse(text) as Line;
    if (line.user?.username !== account) return;
    const { resource = '', subresource, namespace = '' } = line.objectRef ?? {};
    const at = Date.parse(line.requestReceivedTimestamp);
    if (resource === 'leases') renewals.push(at);
    else if (line.verb !== 'watch') {
      const name = subresource === undefined ? resource : `${resource}/${subresource}`;
      seen.push({ verb: line.verb, resource: name, namespace, at, code: line.responseStatus?.code ?? 0 });
    }
  };
  const read = (): void => {
    const chunk = tailOf(logPath, offset);
    offset += chunk.length;
    const lines = (rest + chunk.toString('utf8')).split('\n');
    rest = lines.pop() ?? '';
    lines.forEach(take);
  };
  const since = (from: number): readonly AuditedRequest[] => {
    read();
    return seen.filter(({ at }) => at >= from);
  };

  return {
    since,
    leasesSince: (from) => {
      read();
      return renewals.filter((at) => at >= from).length;
    },
    untilQuiet: async (from, quietMs = 3_000) => {
      for (;;) {
        const last = since(from).reduce((latest, { at }) => Math.max(latest, at), from);
        const left = last + quietMs - Date.now();
        if (left <= 0) return last;
        await sleep(Math.max(100, left));
      }
    },
  };
}

function tailOf(path: string, offset: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(Math.max(0, fstatSync(file).size - offset));
    // A multi-byte character may be cut: names in these logs are ASCII, and what is cut stands in a line that is read later.
    return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, offset));
  } finally {
    closeSync(file);
  }
}
