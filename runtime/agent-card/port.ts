/** Which of several ports a card is served on: the one named a2a, else http, else the first that looks like an agent's. */

export interface Port {
  readonly name?: string | undefined;
  readonly number: number;
  readonly protocol?: string | undefined;
}

/** A port of a Service: what it leads to is another number, or the name of a container's port, unless it is absent. */
export interface ServedPort extends Port {
  readonly targetPort?: number | string | undefined;
}

/** Names before all others, the best first. */
const cardNames: readonly string[] = ['a2a', 'http'];

/** Words of a port's name (`grpc-health`, `http-metrics`) that say what else is served there, or that it is no plain HTTP. */
const otherWords: ReadonlySet<string> = new Set(
  (
    'metrics prometheus prom monitoring telemetry stats otlp admin debug pprof ' +
    'health healthz healthcheck probe probes readiness liveness grpc grpcs https tls'
  ).split(' '),
);

/** Prometheus and the metrics and health of Istio's sidecar: taken only under one of `cardNames`. */
const otherNumbers: ReadonlySet<number> = new Set([9090, 15020, 15021, 15090]);

/** `undefined`: none of them looks like it. Ports of UDP and SCTP are none. */
export function cardPort<P extends Port>(ports: readonly P[]): P | undefined {
  const tcp = ports.filter(isTcp);
  const named = cardNames.map((name) => tcp.find((port) => port.name === name)).find((port) => port !== undefined);
  return named ?? tcp.find((port) => !isForSomethingElse(port));
}

export function isTcp({ protocol }: Port): boolean {
  return protocol === undefined || protocol === 'TCP';
}

/** `a2a 8080`, or `8080`. */
export function portText({ name, number }: Port): string {
  return name === undefined || name === '' ? `${number}` : `${name} ${number}`;
}

function isForSomethingElse({ name = '', number }: Port): boolean {
  return otherNumbers.has(number) || name.split('-').some((word) => otherWords.has(word));
}
