/** `rossoctl sign`: a card signed with an X.509-SVID from files; offline. */

import { writeFile } from 'node:fs/promises';
import { leafOf, signCard, SignError, type Signed } from '../signature/sign.ts';
import { type Arguments, type Flag, valueOf } from './arguments.ts';
import { CliError, exitCodes } from './cli-error.ts';
import type { Command, Terminal } from './command.ts';
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
  for (const warning of [...signed.warnings, ...dateWarnings(chain.text)]) terminal.err(`warning: ${warning}`);
  await written(`${JSON.stringify(signed.card, undefined, 2)}\n`, valueOf(given, 'output'), terminal);
  return exitCodes.ok;
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
  const { notBefore, notAfter } = leafOf(chain);
  const now = Date.now();
  if (now > notAfter)
    return [`the certificate ended at ${new Date(notAfter).toISOString()}: nobody will verify this card`];
  return now < notBefore ? [`the certificate is valid only from ${new Date(notBefore).toISOString()} on`] : [];
}

async function written(text: string, file: string | undefined, terminal: Terminal): Promise<void> {
  if (file === undefined || file === '-') {
    terminal.out(text);
    return;
  }
  try {
    await writeFile(file, text, { mode: 0o644 });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
    throw new CliError(`${file} cannot be written: ${code}`);
  }
}
