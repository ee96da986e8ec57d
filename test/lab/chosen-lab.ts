// Which lab a command means: the one it names, else the default one, else the only one there is.
import { LabError } from './lab-error.ts';
import { defaultLabName } from './locations.ts';

/** The lab that is meant among those that exist. Throws `LabError` with their names when that is not clear. */
export function chosenLab(asked: string | undefined, labs: readonly string[], verb: string): string {
  if (asked !== undefined) return asked;
  const [only, ...more] = labs;
  if (only === undefined || labs.includes(defaultLabName)) return defaultLabName;
  if (more.length > 0) throw new LabError(`Which lab? There are ${labs.join(', ')}. ${sayWhich(verb, only)}`);
  return only;
}

/** The sentence about a lab that does not exist: which there are, and how to name one. */
export function noSuchLab(name: string, labs: readonly string[], verb: string): string {
  const [first, ...more] = labs;
  const choice = name === defaultLabName ? '' : ` --name ${name}`;
  if (first === undefined) return `There is no lab "${name}" and no other; start it with: npm run lab -- up${choice}`;
  const others = more.length === 0 ? `There is "${first}"` : `There are ${labs.join(', ')}`;
  return `There is no lab "${name}". ${others}. ${sayWhich(verb, first)}`;
}

function sayWhich(verb: string, name: string): string {
  return `Name one, for example: npm run lab -- ${verb} --name ${name}`;
}
