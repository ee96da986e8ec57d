/** The project's own Pulumi program, run by the real CLI, with configuration and state in a folder of the test. */

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Yaml } from 'cdk8s';
import { preparePulumi, type Pulumi, providerVersion } from '../lab/pulumi/pulumi.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** What a run did, by the CLI's own words: `{ created: 40 }`. */
export type Summary = Readonly<Record<string, number>>;

/** One step of a preview. */
export interface Step {
  readonly op: string;
  readonly urn: string;
  readonly detailedDiff?: Readonly<Record<string, { readonly kind: string }>> | null;
}

/** The sections of a stack's configuration, without their prefix; `cluster` on top of what the test's cluster needs. */
export type Configuration = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export interface Stack {
  /** Replaces its configuration. */
  configure(sections: Configuration): void;
  /** `up`, `refresh` or `destroy`. Throws with everything the CLI said when it fails. */
  run(verb: 'up' | 'refresh' | 'destroy'): Promise<Summary>;
  /** `up`, killed when `signal` says so. */
  upUntil(signal: AbortSignal): Promise<void>;
  /** Gives up what a killed run has not ended. */
  cancel(): Promise<void>;
  /** What `up` would change. `asByDefault`: without what docs/pulumi.md says of large previews. */
  preview(options?: { readonly asByDefault?: boolean }): Promise<readonly Step[]>;
}

export interface ProjectOptions {
  /** A folder of the test's own, which exists. */
  readonly dir: string;
  readonly kubeconfig: string;
  /** Whether there are nodes, so that something can be waited for. */
  readonly hasNodes: boolean;
}

/** Makes stacks of the project for one cluster. */
export async function startProject({ dir, kubeconfig, hasNodes }: ProjectOptions) {
  const project = projectIn(dir);
  const pulumi = await preparePulumi({ project, dir });
  // A preview keeps nothing, and yet the CLI makes the whole state of it after every step.
  const previews = await preparePulumi({ project, dir, env: { PULUMI_SKIP_CHECKPOINTS: 'true' } });
  const sayWith = async (cli: Pulumi, ...parameters: readonly string[]): Promise<string> => {
    const { code, out, err } = await cli.run(...parameters);
    if (code !== 0) throw new Error(`pulumi ${parameters.join(' ')} ended with ${code}:\n${out}\n${err}`);
    return out;
  };
  const say = (...parameters: readonly string[]) => sayWith(pulumi, ...parameters);
  return {
    /** Drops a stack and leaves what it made, and its settings. */
    forget: async (name: string): Promise<void> => {
      await say('stack', 'rm', '--stack', name, '--force', '--preserve-config', '--yes');
      assert.ok(existsSync(path.join(project, `Pulumi.${name}.yaml`)));
    },
    stack: async (name: string, configuration: Configuration): Promise<Stack> => {
      const configure = (sections: Configuration): void => {
        const cluster = { kubeconfig, providerVersion, await: hasNodes, ...sections['cluster'] };
        const config = Object.entries({ ...sections, cluster }).map(([key, value]) => [`rossoctl:${key}`, value]);
        writeFileSync(
          path.join(project, `Pulumi.${name}.yaml`),
          Yaml.stringify({ config: Object.fromEntries(config) }),
        );
      };
      await say('stack', 'init', name);
      configure(configuration);
      return {
        configure,
        run: async (verb) =>
          summaryOf(await say(verb, '--stack', name, '--yes', ...(verb === 'refresh' ? [] : ['--skip-preview']))),
        upUntil: async (signal) => {
          await pulumi.runUntil(signal, 'up', '--stack', name, '--yes', '--skip-preview');
        },
        cancel: async () => {
          await say('cancel', '--stack', name, '--yes');
        },
        preview: async ({ asByDefault = false } = {}) => {
          const out = await sayWith(asByDefault ? pulumi : previews, 'preview', '--stack', name, '--json');
          const { steps } = JSON.parse(out.slice(out.indexOf('{'))) as { readonly steps: readonly Step[] };
          return steps.filter(({ op }) => op !== 'same' && op !== 'read');
        },
      };
    },
  };
}

/** The project itself, but for its configuration: what a run writes beside it stays in the test's folder. */
function projectIn(dir: string): string {
  const project = path.join(dir, 'project');
  mkdirSync(project);
  symlinkSync(path.join(root, 'stacks'), path.join(project, 'stacks'));
  const ours = readFileSync(path.join(root, 'Pulumi.yaml'), 'utf8');
  writeFileSync(path.join(project, 'Pulumi.yaml'), ours.replace('stackConfigDir: stacks', 'stackConfigDir: .'));
  return project;
}

function summaryOf(out: string): Summary {
  const lines = out.slice(out.lastIndexOf('Resources:')).split('\n');
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [, count, word] = /^\s+[-+~]?\s*(\d+) (\w+)/.exec(line) ?? [];
      return count === undefined || word === undefined ? [] : [[word, Number(count)]];
    }),
  );
}
