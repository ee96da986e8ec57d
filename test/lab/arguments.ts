// Reads the lab's command line into a command, or into what is wrong with it.
import { defaultLabName } from './locations.ts';

/** What `build` builds. */
export type BuildTarget = 'cluster' | 'spire' | 'pulumi' | 'keycloak';

/** A program of somebody else's that is run against the lab. */
export type Borrowed = 'kubectl' | 'pulumi';

/** What to do; without a name, with the lab that `chosenLab` says. */
export type LabCommand =
  | {
      readonly verb: 'up';
      readonly name: string;
      readonly isControlPlaneOnly: boolean;
      readonly context: string | undefined;
    }
  | { readonly verb: 'down' | 'status'; readonly name: string | undefined }
  | { readonly verb: Borrowed; readonly name: string | undefined; readonly parameters: readonly string[] }
  | { readonly verb: 'load'; readonly name: string | undefined; readonly archive: string }
  | { readonly verb: 'build'; readonly target: BuildTarget }
  | { readonly verb: 'help' }
  | { readonly verb: 'mistake'; readonly message: string };

/** The text of `--help`. */
export const usage = `Usage: npm run lab -- COMMAND [--name NAME]

A Kubernetes cluster on this machine, built from source and used by the tests and the demo.

  up                      start it and wait until it works; says so when it is up already
    --control-plane-only  without a node: no pods run, no root needed
    --context NAME        start nothing; use that context of your own kubeconfig
  down                    end it and remove everything it made
  status                  show what runs
  kubectl …               run the built kubectl against it
  pulumi …                run the built Pulumi against it, with a state that goes with the lab
  load FILE.tar           import an image archive into its node
  build                   only build the binaries this user can run (a node needs root on Linux)
    --spire               a SPIRE server and agent instead; needs a C compiler
    --pulumi              the Pulumi CLI and its Kubernetes provider instead
    --keycloak            a Keycloak instead; needs Maven, unzip and Java 17

  --name NAME             which lab; several run side by side. Without it "up" means "${defaultLabName}", and any
                          other command means that one or else the only lab there is
  --help                  show this text
`;

interface Options {
  readonly name: string | undefined;
  readonly isControlPlaneOnly: boolean;
  readonly context: string | undefined;
  readonly target: BuildTarget;
  /** What is neither an option nor its value, in order. */
  readonly words: readonly string[];
  readonly mistake: string | undefined;
}

/** The command that `argv` (without program and script) asks for. */
export function parseArguments(argv: readonly string[]): LabCommand {
  const borrowedAt = argv.findIndex((word, index) => isBorrowed(word) && !takesValue(argv[index - 1]));
  const borrowed = argv[borrowedAt];
  if (borrowed !== undefined && isBorrowed(borrowed) && !argv.slice(0, borrowedAt).includes('--help')) {
    return borrowedCommand(borrowed, argv, borrowedAt);
  }
  if (argv.length === 0 || argv.some((word) => word === '--help' || word === '-h' || word === 'help')) {
    return { verb: 'help' };
  }
  const options = readOptions(argv);
  return options.mistake === undefined ? commandOf(options) : { verb: 'mistake', message: options.mistake };
}

function isBorrowed(word: string): word is Borrowed {
  return word === 'kubectl' || word === 'pulumi';
}

// What follows the program is the program's, but for a --name right behind it.
function borrowedCommand(verb: Borrowed, argv: readonly string[], at: number): LabCommand {
  const own = argv.slice(0, at);
  const rest = argv.slice(at + 1);
  if (rest[0] === '--name') own.push(...rest.splice(0, 2));
  const { name, words, mistake } = readOptions(own);
  if (mistake !== undefined) return { verb: 'mistake', message: mistake };
  if (words.length > 0) return { verb: 'mistake', message: `unexpected "${words.join(' ')}" before ${verb}` };
  return { verb, name, parameters: rest };
}

function commandOf(options: Options): LabCommand {
  const { name, isControlPlaneOnly, context, target, words } = options;
  const [verb = '', ...rest] = words;
  const wanted = verb === 'load' ? 1 : 0;
  const unexpected = rest[wanted];
  if (unexpected !== undefined) return { verb: 'mistake', message: `unexpected "${unexpected}" after ${verb}` };
  const misplaced = misplacedOption(verb, options);
  if (misplaced !== undefined) return { verb: 'mistake', message: misplaced };
  switch (verb) {
    case 'up':
      return { verb, name: name ?? defaultLabName, isControlPlaneOnly, context };
    case 'down':
    case 'status':
      return { verb, name };
    case 'build':
      return { verb, target };
    case 'load':
      return rest[0] === undefined
        ? { verb: 'mistake', message: '"load" needs the file of an image archive' }
        : { verb, name, archive: rest[0] };
    default:
      return { verb: 'mistake', message: verb === '' ? 'no command' : `unknown command "${verb}"` };
  }
}

function misplacedOption(verb: string, { isControlPlaneOnly, context, target }: Options): string | undefined {
  if (verb !== 'up' && (isControlPlaneOnly || context !== undefined)) {
    return '--control-plane-only and --context belong to "up"';
  }
  return verb !== 'build' && target !== 'cluster' ? `--${target} belongs to "build"` : undefined;
}

const buildTargets: ReadonlyMap<string, BuildTarget> = new Map([
  ['--spire', 'spire'],
  ['--pulumi', 'pulumi'],
  ['--keycloak', 'keycloak'],
]);

const takesValue = (word: string | undefined): boolean => word === '--name' || word === '--context';

function readOptions(argv: readonly string[]): Options {
  let options: Options = {
    name: undefined,
    isControlPlaneOnly: false,
    context: undefined,
    target: 'cluster',
    words: [],
    mistake: undefined,
  };
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? '';
    const [flag = '', inline] = word.startsWith('--') ? word.split(/=(.*)/s) : [word];
    const value = takesValue(flag) ? (inline ?? argv[(at += 1)]) : undefined;
    options = withOption(options, flag, value);
  }
  return options;
}

function withOption(options: Options, flag: string, value: string | undefined): Options {
  if (takesValue(flag) && !value) return { ...options, mistake: `${flag} needs a value` };
  if (flag === '--name' && value !== undefined) {
    return /^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/.test(value)
      ? { ...options, name: value }
      : { ...options, mistake: `"${value}" is no name for a lab: at most 32 of a-z, 0-9 and "-"` };
  }
  if (flag === '--context') return { ...options, context: value };
  const target = buildTargets.get(flag);
  if (target !== undefined) return { ...options, target };
  if (flag === '--control-plane-only') return { ...options, isControlPlaneOnly: true };
  if (flag.startsWith('-')) return { ...options, mistake: `unknown option ${flag}` };
  return { ...options, words: [...options.words, flag] };
}
