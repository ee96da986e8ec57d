/** The page of the command lines: `rossoctl`, the operator's options, and the npm scripts, in their own words. */

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { commands, main } from '../../runtime/cli/main.ts';
import { exitCodes } from '../../runtime/cli/cli-error.ts';
import { options } from '../../runtime/operator/options.ts';
import type { Option } from '../../runtime/operator/option-values.ts';
import { block, code, pageText, sentence, table } from './markdown.ts';
import { valueText } from './schema-rows.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** The page. Runs each npm script with `--help`. */
export async function cliPage(): Promise<string> {
  return pageText({
    title: 'Command lines',
    intro: 'What each program says of itself with `--help`.',
    parts: [
      '## rossoctl',
      `Exit codes of every command: ${exitCodes.ok} done, ${exitCodes.denied} the answer is no, ${exitCodes.usage} wrong usage or input that cannot be read.`,
      block(await helpOf([])),
      ...(await commandParts()),
      '## The operator',
      [
        'A flag wins over its environment variable, and that over the default. Wrong usage ends the process with exit code 2, a failure or a lost lease',
        'with 1. `AgentPlatform` sets the flags that an install needs; its props are in [constructs](constructs.md#agentplatformprops).',
      ].join('\n'),
      optionTable(),
      '## npm scripts',
      'In a checkout, after `npm ci --ignore-scripts`. Flags come after `--`: `npm run synth -- --env production`.',
      ...(await scriptParts()),
    ],
  });
}

async function commandParts(): Promise<readonly string[]> {
  const parts = await Promise.all(commands.map(async ({ name }) => [`### ${name}`, block(await helpOf([name]))]));
  return parts.flat();
}

async function helpOf(words: readonly string[]): Promise<string> {
  let text = '';
  const terminal = {
    stdin: (async function* (): AsyncGenerator<Uint8Array> {})(),
    out: (piece: string) => void (text += piece),
    err: (line: string) => {
      throw new Error(`rossoctl help ${words.join(' ')}: ${line}`);
    },
  };
  await main(['help', ...words], terminal);
  return text;
}

function optionTable(): string {
  const rows = Object.values<Option<unknown>>(options).map((row) => [
    code(`--${row.flag}${row.placeholder === undefined ? '' : ` ${row.placeholder}`}`),
    code(row.env ?? ''),
    valueText(row.default),
    sentence(row.help),
  ]);
  return table(['flag', 'environment', 'default', 'what it is'], rows);
}

/** Scripts that are one program of ours, by name. */
function programs(): readonly (readonly [name: string, file: string])[] {
  const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  return Object.entries(scripts).flatMap(([name, command]) => {
    const file = /^node (\S+\.ts)$/.exec(command)?.[1];
    return file === undefined ? [] : [[name, file] as const];
  });
}

async function scriptParts(): Promise<readonly string[]> {
  const parts = await Promise.all(
    programs().map(async ([name, file]) => {
      const { stdout } = await promisify(execFile)(process.execPath, [path.join(root, file), '--help'], { cwd: root });
      if (!/^usage: /i.test(stdout)) throw new Error(`npm run ${name} -- --help does not say how it is used`);
      return [`### npm run ${name}`, block(stdout)];
    }),
  );
  return parts.flat();
}
