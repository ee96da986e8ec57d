/** Images of the demo: an agent that serves its card, and stand-ins for the injected containers, whose real images are not built yet. */

import path from 'node:path';
import { writeDockerArchive } from '../../scripts/docker-archive.ts';

/** The card that an agent of the demo serves. */
export function agentCard(name: string, namespace: string): Readonly<Record<string, unknown>> {
  return {
    name,
    description: `The ${name} agent of the demo`,
    version: '1.0.0',
    protocolVersion: '0.3.0',
    url: `http://${name}.${namespace}.svc:8080/`,
    capabilities: { streaming: false },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: name, name, description: `What ${name} does`, tags: [name] }],
  };
}

interface DemoImage {
  readonly tag: string;
  /** A shell command; the image holds busybox and `files`. */
  readonly command: string;
  readonly files?: Readonly<Record<string, string>>;
}

const images: readonly DemoImage[] = [
  {
    tag: 'lab.local/demo-agent:1',
    // From a folder that can be written where the pod has one, so that the card can be signed while it runs.
    command: 'root=/www; cp -r /www /tmp/ 2> /dev/null && root=/tmp/www; exec httpd -f -p "$PORT" -h "$root"',
    files: { 'www/.well-known/agent-card.json': JSON.stringify(agentCard('unsigned', 'demo')) },
  },
  {
    tag: 'lab.local/envoy-proxy:dev',
    command:
      'echo "stand-in for envoy-proxy: answers its probes and does nothing else"; exec httpd -f -p "$HEALTH_PORT" -h /www',
    files: { 'www/readyz': 'ok\n', 'www/healthz': 'ok\n' },
  },
  {
    tag: 'lab.local/proxy-init:dev',
    command: 'echo "stand-in for proxy-init: would capture traffic for ports $PROXY_PORT and $INBOUND_PROXY_PORT"',
  },
];

/** Writes the archives into `folder` from a static busybox; returns their paths. */
export function writeDemoImages(busybox: string, folder: string): readonly string[] {
  return images.map(({ tag, command, files = {} }) => {
    const file = path.join(folder, `${tag.replaceAll(/[/:]/g, '_')}.tar`);
    writeDockerArchive({
      file,
      tag,
      entries: [
        { path: 'bin/busybox', mode: 0o755, source: busybox },
        ...['sh', 'httpd', 'echo', 'cp', 'cat', 'mv', 'timeout', 'wget'].map((name) => ({
          path: `bin/${name}`,
          link: 'busybox',
        })),
        ...Object.entries(files).map(([name, content]) => ({ path: name, content })),
      ],
      config: { Entrypoint: ['/bin/sh', '-c', command], Env: ['PATH=/bin'], User: '65532:65532' },
    });
    return file;
  });
}
