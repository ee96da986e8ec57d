// Changes the root of a SPIRE server by hand, step by step, as its operators do.
import { runCommand } from '../run-command.ts';

/** The X.509 authorities of a server by their identifiers (the subject key identifier, hex). */
export interface Authorities {
  readonly active: string;
  readonly prepared: string | undefined;
  readonly old: string | undefined;
}

/** The steps of a change of roots, in their order. */
export interface AuthorityChange {
  show(): Promise<Authorities>;
  /** Makes a new root and puts it into the bundle; returns its identifier. */
  prepare(): Promise<string>;
  /** Signs with the prepared root from now on. */
  activate(authority: string): Promise<void>;
  /** Says that the old root is no longer good: every SVID under it is replaced at once. */
  taint(authority: string): Promise<void>;
  /** Takes the tainted root out of the bundle. */
  revoke(authority: string): Promise<void>;
}

interface Authority {
  readonly authority_id: string;
}

/** The authorities of the server whose own API is at `socket`. */
export function authorityChange(server: string, socket: string): AuthorityChange {
  const run = async (verb: string, ...parameters: readonly string[]): Promise<unknown> => {
    const command = ['localauthority', 'x509', verb, '-socketPath', socket, '-output', 'json', ...parameters];
    return JSON.parse(await runCommand(server, command, { timeoutMs: 30_000 })) as unknown;
  };
  const change = (verb: string) => async (authority: string) => {
    await run(verb, '-authorityID', authority);
  };
  return {
    show: async () => {
      const { active, prepared, old } = (await run('show')) as Partial<Record<keyof Authorities, Authority>>;
      return { active: active?.authority_id ?? '', prepared: prepared?.authority_id, old: old?.authority_id };
    },
    prepare: async () => {
      const { prepared_authority } = (await run('prepare')) as { readonly prepared_authority: Authority };
      return prepared_authority.authority_id;
    },
    activate: change('activate'),
    taint: change('taint'),
    revoke: change('revoke'),
  };
}
