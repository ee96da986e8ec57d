#!/usr/bin/env node
/** Starts the command line with a Node that runs TypeScript: this one when it is new enough, else the one among the dependencies. */

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const program = new URL('../runtime/cli/run.ts', import.meta.url);
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major > 22 || (major === 22 && minor >= 18)) {
  await import(program.href);
} else {
  const node = [`../node_modules/node-${process.platform}-${process.arch}/bin/node`, '../node_modules/.bin/node']
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(path));
  if (node === undefined) {
    console.error(`rossoctl: needs Node 22.18 or newer (this is ${process.versions.node}); run npm ci to get it`);
    process.exitCode = 2;
  } else {
    delegate(node);
  }
}

/** Same files, same signals, same exit. @param {string} node */
function delegate(node) {
  const child = spawn(node, [fileURLToPath(program), ...process.argv.slice(2)], { stdio: 'inherit' });
  const signals = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`rossoctl: ${error.message}`);
    process.exitCode = 2;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = signal === null ? (code ?? 2) : 128 + constants.signals[signal];
  });
}
