/** Calls one address from many connections, each one request after another, and says how long the requests took. */

import net from 'node:net';

export interface Calls {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  /** Default `/hello`. */
  readonly path?: string;
  /** The `Host` header. Default `agent`. */
  readonly authority?: string;
  /** Default: one of the usual size, which nobody can look into. */
  readonly token?: string;
  /** Each request has a token of its own: its number is added to the end, so the signature of none is good. */
  readonly isTokenNew?: boolean;
}

export interface Timing {
  /** Of all kinds, those of the second of warming up too. */
  readonly requests: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly failed: number;
}

function requestsOf({ path = '/hello', authority = 'agent', token = 't'.repeat(1_100), isTokenNew }: Calls) {
  const start = `GET ${path} HTTP/1.1\r\nhost: ${authority}\r\nauthorization: Bearer ${token}`;
  return (number: number): string => `${start}${isTokenNew === true ? number : ''}\r\n\r\n`;
}

/** Runs in a process of its own, so that what is measured has the other core. */
async function measure(load: Calls): Promise<Timing> {
  const { host, port, connections, seconds } = load;
  const request = requestsOf(load);
  let requests = 0;
  const took: number[] = [];
  let failed = 0;
  const warmUntil = performance.now() + 1_000;
  const end = warmUntil + seconds * 1000;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = net.connect({ host, port, noDelay: true });
      let heard: (isGood: boolean) => void = () => undefined;
      let answer = '';
      socket.on('data', (chunk: Buffer) => {
        answer += chunk.toString('latin1');
        const head = answer.indexOf('\r\n\r\n');
        const length = /content-length: (\d+)/i.exec(answer)?.[1];
        if (head < 0 || length === undefined || answer.length < head + 4 + Number(length)) return;
        const isGood = answer.startsWith('HTTP/1.1 200');
        answer = '';
        heard(isGood);
      });
      socket.on('error', () => heard(false));
      socket.on('close', () => heard(false));
      while (performance.now() < end) {
        const begun = performance.now();
        const answered = new Promise<boolean>((resolve) => {
          heard = resolve;
        });
        socket.write(request((requests += 1)));
        const isGood = await answered;
        if (begun > warmUntil) took.push(performance.now() - begun);
        if (!isGood) failed += 1;
        if (socket.destroyed) break;
      }
      socket.destroy();
    }),
  );
  took.sort((a, b) => a - b);
  const at = (part: number) => took[Math.floor(took.length * part)] ?? Number.NaN;
  return { requests, perSecond: took.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99), failed };
}

process.on('message', (load: Calls) => {
  void measure(load).then((figures) => process.send?.(figures, () => process.exit()));
});
