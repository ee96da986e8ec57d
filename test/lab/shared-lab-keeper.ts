// The process that keeps a test run's shared control plane alive exactly as long as the run.
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startControlPlane } from './control-plane.ts';
import { isRunning, type ProcessIdentity } from './process-identity.ts';

const [pid = '', startTime = '', dir = ''] = process.argv.slice(2);
const owner: ProcessIdentity = { pid: Number(pid), startTime };

const plane = await startControlPlane({ name: 'shared', withControllerManager: true });
writeFileSync(join(dir, 'ready.json.partial'), JSON.stringify({ kubeconfigPath: plane.kubeconfigPath }));
renameSync(join(dir, 'ready.json.partial'), join(dir, 'ready.json'));
while (isRunning(owner)) await sleep(250);
await plane.stop();
rmSync(dir, { recursive: true, force: true });
