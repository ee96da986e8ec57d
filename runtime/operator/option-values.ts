/** What an option is, and the kinds of values it takes: text to value, or a sentence saying what is allowed. */

import { trustDomainPattern } from '../api/agent-runtime.ts';
import { instancePattern } from '../api/names.ts';
import { releasePattern } from '../api/release.ts';

export interface Option<T> {
  readonly flag: string;
  /** Environment variable read when the flag is absent. */
  readonly env?: string;
  readonly placeholder?: string;
  readonly default: T;
  readonly help: string;
  /** Text to value; throws a sentence saying what is allowed. */
  parse(text: string): T;
}

export const option = <T>(row: Option<T>): Option<T> => row;

export const text = (value: string) => value;

export function port(value: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 0 || number > 65535) throw new Error('a port from 0 to 65535 is expected');
  return number;
}

export function positive(value: string): number {
  const number = Number(value);
  if (!(number > 0) || !Number.isFinite(number)) throw new Error('a number above 0 is expected');
  return number;
}

export function boolean(value: string): boolean {
  if (value === 'true' || value === '1') return true;
  if (value === 'false' || value === '0') return false;
  throw new Error('true or false is expected');
}

export function oneOf<const T extends string>(...allowed: readonly T[]): (value: string) => T {
  return (value) => {
    const found = allowed.find((item) => item === value);
    if (found === undefined) throw new Error(`one of ${allowed.join(', ')} is expected`);
    return found;
  };
}

export function trustDomain(value: string): string {
  if (value.length > 255 || !new RegExp(trustDomainPattern).test(value))
    throw new Error('lower-case letters, digits, dots, dashes and underscores are expected, without spiffe://');
  return value;
}

export function instanceText(value: string): string {
  if (!new RegExp(instancePattern).test(value))
    throw new Error('at most 32 lower-case letters, digits and dashes are expected, beginning and ending with no dash');
  return value;
}

export function releaseText(value: string): string {
  if (!releasePattern.test(value)) throw new Error('a release such as 0.1.0 is expected');
  return value;
}

/** A comma list: spaces, empty entries and duplicates are dropped. */
export function nameList(value: string): readonly string[] {
  const names = [...new Set(value.split(',').map((name) => name.trim()))].filter((name) => name !== '');
  const bad = names.find((name) => !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name));
  if (bad !== undefined) throw new Error(`${JSON.stringify(bad)} is not a namespace name`);
  return names.sort();
}
