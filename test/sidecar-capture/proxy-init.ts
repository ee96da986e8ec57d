/** Runs the role `proxy-init` as its container does: everything from the environment, the log on standard output. */

import { createLog } from '../../runtime/engine/log.ts';
import { proxyInit } from '../../runtime/sidecar/capture/apply.ts';

process.exitCode = proxyInit(process.env, createLog({ level: 'info', name: 'proxy-init' }));
