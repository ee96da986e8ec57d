/** What a table of meanings is: a sentence for each word that the sources list, no word missing and none too many. */

/** A sentence or two for each word: what it means and what to do. */
export type Meanings<Words extends string> = Readonly<Record<Words, string>>;

/** Of one condition type: what it is about, and its reasons. */
export interface ConditionMeaning<Reasons extends string = string> {
  readonly about: string;
  readonly reasons: Meanings<Reasons>;
}

/** Of every condition type of a kind, whose reasons are listed by type. */
export type ConditionMeanings<Listed extends Readonly<Record<string, readonly string[]>>> = {
  readonly [Type in keyof Listed]: ConditionMeaning<Listed[Type][number]>;
};
