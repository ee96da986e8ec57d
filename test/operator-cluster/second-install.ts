/** One more install of the platform beside that of a bed: its manifests, its account, its Service, and its operator process. */

import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { followAuditLog } from '../support/audit-log.ts';
import { eventually, portOf } from '../support/engine-bed.ts';
import { type OperatorBed, untilLeading, untilReady } from '../support/operator-bed.ts';
import {
  accountIn,
  applyAll,
  type PlatformProps,
  platformObjects,
  tokenOf,
  userOf,
  writeTokenKubeconfig,
} from '../support/operator-platform.ts';
import { startOperatorProcess } from '../support/operator-process.ts';
import { startServiceProxy } from '../support/service-proxy.ts';

/** Applies the install and starts its operator under its own account; resolves when it leads. */
export async function startSecondInstall(
  bed: OperatorBed,
  props: PlatformProps,
  flags: Readonly<Record<string, string>>,
) {
  const { plane, client, transport } = bed;
  const service = await startServiceProxy();
  const objects = platformObjects(props, service.port);
  await applyAll(client, objects);
  const account = accountIn(objects);
  const dir = path.join(bed.dir, account.namespace);
  mkdirSync(dir);
  const token = await tokenOf(transport, account);
  const kubeconfig = writeTokenKubeconfig({
    dir,
    certificatesDir: plane.certificatesDir,
    port: portOf(plane),
    token,
  });
  const operator = await startOperatorProcess({ name: account.name, flags: { kubeconfig, ...flags } });
  service.add(operator);
  await untilReady(operator);
  await eventually(() => service.ready.includes(operator.name));
  await untilLeading(operator);
  return {
    objects,
    operator,
    audit: followAuditLog(plane.auditLogPath ?? '', userOf(account)),
    stop: async () => {
      await operator.kill();
      await service.close();
    },
  };
}

export type SecondInstall = Awaited<ReturnType<typeof startSecondInstall>>;
