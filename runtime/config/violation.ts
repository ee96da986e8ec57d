/** What is wrong with a configuration, as a value that every check gives and every message is made from. */

/** One thing that is wrong, at a dotted path (`''`: the whole document). */
export interface Violation {
  readonly path: string;
  /** 1-based line of the text, when there is a text. */
  readonly line?: number | undefined;
  /** What is wrong and what is allowed, without the path. */
  readonly message: string;
}
