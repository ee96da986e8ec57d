// A failure of the lab, told in a sentence for the person who ran it.

/** Thrown for every expected failure of the lab; the command line prints its message without a stack. */
export class LabError extends Error {
  override readonly name = 'LabError';
}
