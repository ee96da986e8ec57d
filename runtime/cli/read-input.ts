/** Reads the files of the command line and standard input. */

import { constants } from 'node:buffer';
import { open } from 'node:fs/promises';
import { CliError } from './cli-error.ts';
import type { SourceText } from './documents.ts';
import { readFault } from './file-fault.ts';

/** Of one file. A dump of a cluster's pods is far smaller. */
const mostBytes = Math.min(64 * 1024 * 1024, constants.MAX_STRING_LENGTH);

/** The text of a file, or of standard input for `-`. Throws `CliError` naming it when it cannot be read. */
export async function readInput(file: string, stdin: AsyncIterable<Uint8Array>): Promise<SourceText> {
  const name = file === '-' ? standardInput : file;
  return { file: name, text: decoded(await readBytes(file, stdin), name) };
}

const standardInput = 'standard input';

/** The bytes of a file, or of standard input for `-`: for what must be judged as it came. Throws `CliError` as `readInput` does. */
export async function readBytes(file: string, stdin: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  return file === '-' ? bounded(stdin, standardInput) : readFile(file);
}

async function readFile(file: string): Promise<Uint8Array> {
  try {
    const handle = await open(file);
    try {
      return await bounded(handle.createReadStream({ autoClose: false }), file);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`${file} cannot be read: ${readFault(error)}`);
  }
}

async function bounded(stream: AsyncIterable<Uint8Array>, name: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.length;
    if (length > mostBytes) throw new CliError(`${name} is larger than ${mostBytes / 1024 / 1024} MiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** UTF-8, or UTF-16 when it begins with its byte order mark. */
function decoded(bytes: Uint8Array, name: string): string {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new CliError(`${name} is not ${encoding.toUpperCase()} text`);
  }
}
