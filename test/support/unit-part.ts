/** Loads the test files that are its arguments into one process: most of a pure test file's time is starting Node and loading libraries. */

import path from 'node:path';
import { pathToFileURL } from 'node:url';

for (const file of process.argv.slice(2)) await import(pathToFileURL(path.resolve(file)).href);
