/** The init container as it runs in a pod, for a namespace: settings from the environment, the exit code says whether all is captured. */

import { createLog } from '../../runtime/engine/log.ts';
import { proxyInit } from '../../runtime/sidecar/capture/apply.ts';

process.exitCode = proxyInit(process.env, createLog({ level: 'warn', name: 'proxy-init' }));
