/** The GitOps flags of `synth`: checked, so that what is written works once it is committed. */

import { suggestion } from '../../runtime/config/suggest.ts';
import type { Manifest, TreeFile } from '../tree.ts';
import { argoCdFiles } from './argocd.ts';
import { fluxFiles } from './flux.ts';
import type { GitOps } from './target.ts';

/** A command line that cannot be meant. */
export class UsageError extends Error {}

/** What writes the files of a tool. */
export type Writer = (manifests: readonly Manifest[], gitOps: GitOps) => readonly TreeFile[];

const writers: readonly (readonly [tool: string, writer: Writer])[] = [
  ['argocd', argoCdFiles],
  ['flux', fluxFiles],
];

/** The tools there are, as the flag names them. */
export const gitOpsTools: readonly string[] = writers.map(([tool]) => tool);

/** As parsed; `gitops` may be given once for each tool. */
export interface GitOpsFlags {
  readonly gitops?: readonly string[] | undefined;
  readonly repo?: string | undefined;
  /** Default `main`. */
  readonly revision?: string | undefined;
  readonly path?: string | undefined;
  readonly secret?: string | undefined;
}

/** What was asked for: files by these writers, about this place. */
export interface Wanted {
  readonly writers: readonly Writer[];
  readonly gitOps: GitOps;
}

interface Rule {
  readonly flag: 'repo' | 'revision' | 'path' | 'secret';
  /** Only for these tools. */
  readonly of?: readonly string[];
  readonly fits: (value: string) => boolean;
  readonly must: string;
}

/** The folder as a path from the root, which is empty. */
const folderOf = (value: string) => value.replace(/^\.(\/|$)/, '').replace(/\/$/, '');
const isRoot = (value: string) => value === '.' || value === './';
const isStep = (name: string) => /^[^\s\\]+$/.test(name) && name !== '.' && name !== '..';
const isUrl = (value: string) => URL.canParse(value) && /^(https?|ssh):$/.test(new URL(value).protocol);
const rules: readonly Rule[] = [
  {
    flag: 'repo',
    of: ['flux'],
    fits: (value) => isUrl(value),
    must: 'must be a URL for Flux: https://HOST/NAME or ssh://git@HOST/NAME',
  },
  {
    flag: 'repo',
    fits: (value) => isUrl(value) || /^[\w.-]+@[\w.-]+:\S+$/.test(value),
    must: 'must be the URL of a Git repository: https://HOST/NAME, ssh://git@HOST/NAME or git@HOST:NAME',
  },
  {
    flag: 'revision',
    // What Git refuses in a name, and a flag that was taken for a value.
    fits: (value) => /^[^\s~^:?*[\\-][^\s~^:?*[\\]*$/.test(value) && !value.includes('..'),
    must: 'must be a branch, refs/tags/NAME or the 40 digits of a commit',
  },
  {
    flag: 'path',
    fits: (value) => isRoot(value) || folderOf(value).split('/').every(isStep),
    must: 'must be a folder inside the repository, such as clusters/dev, or . for its root',
  },
  {
    flag: 'secret',
    fits: (value) => /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(value),
    must: 'must be the name of a Secret',
  },
];

/** `undefined` without `--gitops`. Throws `UsageError` for a flag that is missing, pointless or unfit, with what it must be. */
export function gitOpsOf(environment: string, flags: GitOpsFlags): Wanted | undefined {
  const { gitops: tools = [], repo, revision = 'main', path, secret } = flags;
  if (tools.length === 0) {
    const pointless = rules.find(({ flag }) => flags[flag] !== undefined);
    if (pointless === undefined) return undefined;
    throw new UsageError(`--${pointless.flag} does nothing without --gitops ${gitOpsTools.join('|')}`);
  }
  checkTools(tools);
  if (repo === undefined)
    throw new UsageError('--gitops needs --repo: the URL of the repository that DIR is committed to');
  if (path === undefined) throw new UsageError('--gitops needs --path: where DIR is in the repository, . for its root');
  checkValues(tools, { repo, revision, path, secret });
  return {
    writers: writers.filter(([tool]) => tools.includes(tool)).map(([, writer]) => writer),
    gitOps: {
      environment,
      repo,
      revision,
      path: folderOf(path),
      ...(secret === undefined ? {} : { secret }),
    },
  };
}

function checkTools(tools: readonly string[]): void {
  const unknown = tools.find((tool) => !gitOpsTools.includes(tool));
  if (unknown === undefined) return;
  const close = suggestion(unknown, gitOpsTools);
  const hint = close === undefined ? `there are ${gitOpsTools.join(' and ')}` : `did you mean ${close}?`;
  throw new UsageError(`--gitops ${JSON.stringify(unknown)}: ${hint}`);
}

/** A password, or a token as hosts take it in place of a name. */
function holdsCredentials(repo: string): boolean {
  if (!URL.canParse(repo)) return false;
  const { protocol, username, password } = new URL(repo);
  return password !== '' || (protocol.startsWith('http') && username !== '');
}

type Values = Readonly<Record<Rule['flag'], string | undefined>> & { readonly repo: string };

function checkValues(tools: readonly string[], values: Values): void {
  // Told without the value, which must not end up in a log either.
  if (holdsCredentials(values.repo)) {
    throw new UsageError(
      '--repo holds a password or token, and would be committed: leave it out; the tool has its own Secret',
    );
  }
  if (values.secret !== undefined && !tools.includes('flux')) {
    throw new UsageError('--secret is for --gitops flux; Argo CD is given credentials by its own settings');
  }
  for (const { flag, of = gitOpsTools, fits, must } of rules) {
    const value = values[flag];
    if (value === undefined || fits(value) || !tools.some((tool) => of.includes(tool))) continue;
    throw new UsageError(`--${flag} ${JSON.stringify(value)} ${must}`);
  }
}
