/** `rossoctl sign`: a card signed with an X.509-SVID from files; offline. */

import { stat, writeFile } from 'node:fs/promises';
import type { JsonObject } from '../encoding/strict-json.ts';
import { cardLimits } from '../signature/document.ts';
import { certificatesOf, signCard, SignError, type Signed } from '../signature/sign.ts';
import { type Arguments, type Flag, valueOf } from './arguments.ts';
import { CliError, exitCodes } from './cli-error.ts';
import type { Command, Terminal } from './command.ts';
import { writeFault } from './file-fault.ts';
import { readBytes, readInput } from './read-input.ts';
import { cardFile, required } from './verify.ts';

const flags: readonly Flag[] = [
  { name: 'key', value: 'FILE', help: 'private key of the SVID, PEM' },
  { name: 'chain', value: 'FILE', help: 'certificates of the SVID, PEM: the leaf first, then each issuer' },
  { name: 'output', short: 'o', value: 'FILE', help: 'where the signed card goes (default: standard output)' },
  { name: 'add', help: 'keep the signatures that are there (default: the new one replaces them)' },
];

export const signCommand: Command = {
  name: 'sign',
  summary: 'sign an agent card with an X.509-SVID; offline',
  usage: 'rossoctl sign CARD|- --key FILE --chain FILE [flags]',
  help: `Writes the card with a signature over its canonical JSON (RFC 8785): every member is covered, and nothing may change afterwards.
The chain goes into the signature, so that whoever has the trust bundle can verify it. Refuses a card that does not mean the same to
every parser, and a key or chain that no verifier would accept; warns when the signature will not last or the Go operator cannot verify it.

Exit code: 0 signed, 1 refused, 2 wrong usage or unreadable input.`,
  flags,
  run,
};

async function run(given: Arguments, terminal: Terminal): Promise<number> {
  const card = cardFile(given);
  const keyFile = required(given, 'key', 'the file with the private key');
  const chainFile = required(given, 'chain', 'the file with the certificates');
  if ([card, keyFile, chainFile].filter((file) => file === '-').length > 1) {
    throw new CliError('standard input can be read once only');
  }
  const output = valueOf(given, 'output');
  await refuseToOverwrite(output, { key: keyFile, chain: chainFile });
  const body = await readBytes(card, terminal.stdin);
  const key = await readInput(keyFile, terminal.stdin);
  const chain = await readInput(chainFile, terminal.stdin);
  const signed = attempted(() =>
    signCard(body, { key: key.text, chain: chain.text, replace: !given.switches.has('add') }),
  );
  if (signed instanceof SignError) {
    const message = `${{ card, key: keyFile, chain: chainFile }[signed.subject]}: ${signed.message}`;
    if (signed.isUnreadable) throw new CliError(message);
    terminal.err(`rossoctl: ${message}`);
    return exitCodes.denied;
  }
  const text = textOf(signed.card);
  if (text === undefined) {
    terminal.err(
      `rossoctl: ${card}: the signed card is larger than ${cardLimits.bytes} bytes, and no verifier reads it; make it smaller`,
    );
    return exitCodes.denied;
  }
  const warnings = [...signed.warnings, ...dateWarnings(chain.text), ...sizeWarning(signed.card)];
  for (const warning of warnings) terminal.err(`warning: ${warning}`);
  await written(text, output, terminal);
  return exitCodes.ok;
}

/** A key that was written over is gone. */
async function refuseToOverwrite(output: string | undefined, inputs: Readonly<Record<string, string>>): Promise<void> {
  const place = output === undefined ? undefined : await placeOf(output);
  if (place === undefined) return;
  for (const [flag, file] of Object.entries(inputs)) {
    if ((await placeOf(file)) !== place) continue;
    throw new CliError(`--output: ${output} is the file of --${flag}, which would be lost; name another`);
  }
}

/** The same for every name of a file; undefined where there is none. */
async function placeOf(file: string): Promise<string | undefined> {
  try {
    const { dev, ino } = await stat(file);
    return `${dev}/${ino}`;
  } catch {
    return undefined;
  }
}

/** Indented, unless it is then larger than verifiers read; undefined when it is so in any form. */
function textOf(card: JsonObject): string | undefined {
  return [JSON.stringify(card, undefined, 2), JSON.stringify(card)]
    .map((text) => `${text}\n`)
    .find((text) => Buffer.byteLength(text) <= cardLimits.bytes);
}

/** The operator keeps no larger one in status. */
const mostKept = 256 * 1024;

function sizeWarning(card: JsonObject): readonly string[] {
  if (Buffer.byteLength(JSON.stringify(card)) <= mostKept) return [];
  return [`the card is larger than ${mostKept} bytes: the operator verifies it, but does not store it`];
}

function attempted(sign: () => Signed): Signed | SignError {
  try {
    return sign();
  } catch (error) {
    if (error instanceof SignError) return error;
    throw error;
  }
}

function dateWarnings(chain: string): readonly string[] {
  const now = Date.now();
  return certificatesOf(chain).flatMap(({ notBefore, notAfter }, index) => {
    const which = index === 0 ? 'the certificate' : `certificate ${index + 1} of the chain`;
    if (now > notAfter) return [`${which} ended at ${new Date(notAfter).toISOString()}: nobody will verify this card`];
    return now < notBefore ? [`${which} is valid only from ${new Date(notBefore).toISOString()} on`] : [];
  });
}

async function written(text: string, file: string | undefined, terminal: Terminal): Promise<void> {
  if (file === undefined || file === '-') {
    terminal.out(text);
    return;
  }
  try {
    await writeFile(file, text, { mode: 0o644 });
  } catch (error) {
    throw new CliError(`${file} cannot be written: ${writeFault(error)}`);
  }
}
