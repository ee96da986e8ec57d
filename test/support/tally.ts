/** Counts what the test runner reports, prints failures and skips aloud, and closes with `N passed, N failed`. */

import { inspect } from 'node:util';

export interface Tally {
  readonly passed: number;
  readonly failed: number;
  /** Consumes one run's events to its end. */
  follow(events: AsyncIterable<TestEvent>): Promise<void>;
  /** Counts a failure of the run itself. */
  fail(name: string, error: unknown): void;
  /** Counts what was not run, and says why. */
  skip(name: string, why?: string): void;
  close(): void;
}

export interface TestEvent {
  readonly type: string;
  readonly data: {
    readonly name?: string;
    readonly file?: string | undefined;
    readonly skip?: string | boolean | undefined;
    readonly todo?: string | boolean | undefined;
    readonly message?: string;
    readonly details?: { readonly type?: string | undefined; readonly duration_ms?: number; readonly error?: unknown };
  };
}

function described(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return inspect(cause, { depth: 6, colors: false });
}

/** A suite fails with its tests, which are counted; what its `before` or `after` threw is told by the suite alone. */
function isBrokenHook(error: unknown): boolean {
  return error instanceof Error && 'failureType' in error && error.failureType === 'hookFailed';
}

export function createTally(out: { write(text: string): unknown }): Tally {
  let passed = 0;
  let failed = 0;
  let skipped = 0;
  const failures: string[] = [];

  function skip(name: string, why?: string): void {
    skipped++;
    out.write(`skipped: ${name}${why === undefined ? '' : `: ${why}`}\n`);
  }

  function count(event: TestEvent): void {
    const { data } = event;
    if (data.details?.type === 'suite' && !isBrokenHook(data.details.error)) return;
    const name = `${data.file ?? ''} ${data.name ?? ''}`.trim();
    if (data.skip !== undefined && data.skip !== false) {
      skip(name, typeof data.skip === 'string' ? data.skip : undefined);
    } else if (event.type === 'test:pass') {
      passed++;
    } else {
      failed++;
      failures.push(name);
      out.write(`FAILED: ${name}\n${described(data.details?.error)}\n`);
    }
    const duration = data.details?.duration_ms ?? 0;
    if (duration > 5_000) out.write(`${(duration / 1000).toFixed(1)} s: ${name}\n`);
  }

  return {
    get passed() {
      return passed;
    },
    get failed() {
      return failed;
    },
    async follow(events) {
      for await (const event of events) {
        if (event.type === 'test:pass' || event.type === 'test:fail') count(event);
        else if (event.type === 'test:stderr' || event.type === 'test:stdout') out.write(event.data.message ?? '');
      }
    },
    fail(name, error) {
      failed++;
      failures.push(name);
      out.write(`FAILED: ${name}\n${described(error)}\n`);
    },
    skip,
    close() {
      if (failures.length > 0) out.write(`\nfailed:\n${failures.map((name) => `  ${name}\n`).join('')}`);
      out.write(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
    },
  };
}
