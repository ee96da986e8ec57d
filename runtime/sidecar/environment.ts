/** Reads the sidecar's environment: each variable checked, and everything that is wrong told at once, by name. */

import { EngineError } from '../engine/errors.ts';
import type { Setting } from './json-setting.ts';

/** Variables that are missing or cannot be used; the message names each. Code `SIDECAR_SETTINGS_INVALID`. */
export class SettingsInvalid extends EngineError {
  constructor(problems: readonly string[]) {
    super(
      'SIDECAR_SETTINGS_INVALID',
      `${problems.join('; ')}. They are written by the operator's webhook when the pod is made`,
    );
  }
}

/** What `LOG_LEVEL` may be. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads variables and remembers what is wrong with them; `done` throws when something is. */
export interface Reader {
  /** Empty text counts as not set. */
  text(name: string, otherwise?: string): string;
  optional(name: string): string | undefined;
  /** A whole number. */
  number(name: string, range: { readonly least: number; readonly most: number; readonly otherwise?: number }): number;
  oneOf<const T extends string>(name: string, values: readonly T[], otherwise: T): T;
  /** What a stricter reader makes of the variable; `undefined` when that has a problem. */
  parsed<T>(name: string, read: (text: string | undefined) => Setting<T>): T | undefined;
  problem(sentence: string): void;
  done(): void;
}

export function readerOf(env: Environment): Reader {
  const problems: string[] = [];
  const optional = (name: string): string | undefined => {
    const text = env[name];
    return text === undefined || text === '' ? undefined : text;
  };
  const problem = (sentence: string): void => void problems.push(sentence);
  return {
    optional,
    problem,
    text: (name, otherwise) => {
      const text = optional(name) ?? otherwise;
      if (text === undefined) problem(`${name} is not set`);
      return text ?? '';
    },
    number: (name, { least, most, otherwise }) => {
      const text = optional(name);
      const value = text === undefined ? otherwise : /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
      if (value !== undefined && value >= least && value <= most) return value;
      problem(
        text === undefined
          ? `${name} is not set`
          : `${name}: ${JSON.stringify(text)} is no whole number from ${least} to ${most}`,
      );
      return least;
    },
    oneOf: (name, values, otherwise) => {
      const text = optional(name);
      const known = values.find((value) => value === text);
      if (known !== undefined || text === undefined) return known ?? otherwise;
      problem(`${name}: ${JSON.stringify(text)} is none of ${values.join(', ')}`);
      return otherwise;
    },
    parsed: (name, read) => {
      const setting = read(optional(name));
      if ('value' in setting) return setting.value;
      problem(setting.problem);
      return undefined;
    },
    done: () => {
      if (problems.length > 0) throw new SettingsInvalid(problems);
    },
  };
}
