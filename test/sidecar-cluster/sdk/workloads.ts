/** An agent `planner` and a tool `clock`, written with the public SDKs: their image and what their owner applies. */

import path from 'node:path';
import { bundle } from '../../../scripts/bundle.ts';
import { writeDockerArchive } from '../../../scripts/docker-archive.ts';
import { nodeEntries } from '../../../scripts/image-files.ts';
import { runtimeFor, type Written } from '../../support/workload-objects.ts';
import { deployment, service } from '../objects.ts';

const image = 'lab.local/sdk-programs:test';

/** Node and both programs, each in one file; returns the archive's path. */
export async function writeSdkImage(folder: string): Promise<string> {
  const programs = await Promise.all(
    ['agent', 'tool'].map(async (name) => {
      const { file } = await bundle(`test/sidecar-cluster/sdk/${name}.ts`, path.join(folder, `${name}.mjs`));
      return { path: `app/${name}.mjs`, mode: 0o644, source: file };
    }),
  );
  const file = path.join(folder, 'sdk-programs.tar');
  writeDockerArchive({ file, tag: image, entries: [...nodeEntries(), ...programs], config: {} });
  return file;
}

/** `publicUrl`: where the agent's card says that it is. */
export function sdkWorkloads(namespace: string, publicUrl: string): readonly Written[] {
  const planner = deployment({
    namespace,
    name: 'planner',
    image,
    program: ['/app/agent.mjs'],
    env: { PUBLIC_URL: publicUrl, TOOL_URL: `http://clock.${namespace}.svc:8080/mcp` },
    readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
  });
  const clock = deployment({
    namespace,
    name: 'clock',
    image,
    program: ['/app/tool.mjs'],
    readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
  });
  return [
    planner,
    clock,
    service(namespace, 'planner', { nodePort: Number(new URL(publicUrl).port) }),
    service(namespace, 'clock'),
    runtimeFor(planner),
    runtimeFor(clock, { type: 'tool', identity: { allowedAudiences: ['clock'] } }),
  ];
}
