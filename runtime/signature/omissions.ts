/** Notes which places of a card a reduced form leaves out, as JSON pointers: bounded, however much it leaves out. */

import { pointerToken } from '../encoding/canonical-json.ts';

const mostPointers = 64;
const longestPointer = 1024;

export interface Omissions {
  /** Everything until `leave` is one step deeper. */
  enter(step: string | number): void;
  leave(): void;
  /** To be handed to `note`. */
  mark(): number;
  /** The present place is left out, and with it whatever was noted since `mark`. */
  note(mark: number): void;
  /** At most 64 pointers of at most 1,024 characters, in the order of the card. */
  pointers(): readonly string[];
}

export function createOmissions(): Omissions {
  const path: (string | number)[] = [];
  const noted: string[] = [];
  return {
    enter: (step) => void path.push(step),
    leave: () => void path.pop(),
    mark: () => noted.length,
    note(mark) {
      noted.length = mark;
      if (noted.length < mostPointers) noted.push(pointer(path));
    },
    pointers: () => noted,
  };
}

function pointer(path: readonly (string | number)[]): string {
  const text = path.map((step) => `/${pointerToken(String(step).slice(0, longestPointer))}`).join('');
  return text.slice(0, longestPointer).toWellFormed();
}
