/** The image of the demo's agents that do nothing but serve their card. */

import { writeBusyboxImage } from './busybox-image.ts';

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

/** Writes the archive of `lab.local/demo-agent:1` into `folder` from a static busybox; returns its path. */
export function writeAgentImage(busybox: string, folder: string): string {
  return writeBusyboxImage(busybox, folder, {
    tag: 'lab.local/demo-agent:1',
    // From a folder that can be written where the pod has one, so that the card can be signed while it runs. The shell
    // stays, for httpd as the first process would not end when asked to.
    command:
      'root=/www; cp -r /www /tmp/ 2> /dev/null && root=/tmp/www; trap "exit 0" TERM; httpd -f -p "$PORT" -h "$root" & wait',
    files: { 'www/.well-known/agent-card.json': JSON.stringify(agentCard('unsigned', 'demo')) },
  });
}
