/** A rule of an organisation as a mixin: what it finds below the constructs it is applied to fails synthesis. */

import type { IConstruct, IMixin } from 'constructs';

/**
 * Applied with `app.with(rule)`, `chart.with(rule)` or on any other construct. `with` itself visits only what is there already; a rule also
 * holds for what is added below later, so it does not matter where in the program it is applied. It changes nothing: it looks at
 * synthesis, when everything that is late is known, and says for each violation the construct's path, the field and the remedy.
 */
export abstract class OrganisationRule implements IMixin {
  readonly #applied = new WeakSet<IConstruct>();

  /** Every construct: what a rule has nothing to say about may still get children. */
  supports(): boolean {
    return true;
  }

  /** Checks the construct and all below it at synthesis. Applying a rule twice changes nothing. */
  applyTo(construct: IConstruct): void {
    if (this.#applied.has(construct)) return;
    this.#applied.add(construct);
    construct.node.addValidation({ validate: () => this.#violations(construct) });
  }

  /** Each construct is told of by the nearest one that the rule was applied to, so once. */
  #violations(construct: IConstruct): string[] {
    return construct.node
      .findAll()
      .filter((each) => each.node.scopes.findLast((scope) => this.#applied.has(scope)) === construct)
      .flatMap((each) =>
        this.violations(each).map((violation) => (each === construct ? violation : `${each.node.path}: ${violation}`)),
      );
  }

  /** What is wrong with one construct, not with what is below it: sentences that name the field and the remedy. */
  protected abstract violations(construct: IConstruct): readonly string[];
}
