#!/usr/bin/env node
/** The command line in the npm package: compiled, so this Node runs it, unless it is too old for the HTTP client. */

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major > 22 || (major === 22 && minor >= 19)) {
  await import('../runtime/cli/run.js');
} else {
  console.error(`rossoctl: the command line needs Node 22.19 or newer (this is ${process.versions.node})`);
  process.exitCode = 2;
}
