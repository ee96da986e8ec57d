/** What a measurement is: a value with its unit, the goal it is held against and what the Go operator was measured at. */

export interface Goal {
  readonly atMost?: number;
  readonly atLeast?: number;
  /** Said beside the figure when the goal is missed: what the time or the requests are spent on. */
  readonly why?: string;
}

export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly goal?: Goal;
  /** The same work by the public Go operator, as published: measured on other hardware of the same size. */
  readonly peer?: number;
  /** Against something measured in the same run: `0.62 of the bare server`. */
  readonly ratio?: string;
  readonly note?: string;
}

/** What one scenario found. */
export interface Finding {
  readonly title: string;
  /** How it was measured: one paragraph. */
  readonly how: string;
  readonly figures: readonly Figure[];
}

export function isMet({ value, goal }: Figure): boolean {
  const { atMost = Infinity, atLeast = -Infinity } = goal ?? {};
  return value <= atMost && value >= atLeast;
}

/** `≤ 4`, `≥ 580`, or nothing. */
export function goalText({ goal }: Figure): string {
  if (goal?.atMost !== undefined) return `≤ ${numberText(goal.atMost)}`;
  return goal?.atLeast === undefined ? '' : `≥ ${numberText(goal.atLeast)}`;
}

/** By how much a goal is missed: `23 % too much`. */
export function missText({ value, goal }: Figure): string {
  if (goal?.atMost !== undefined) {
    return goal.atMost === 0
      ? `${numberText(value)} too many`
      : `${numberText((value / goal.atMost - 1) * 100)} % too much`;
  }
  return goal?.atLeast === undefined ? '' : `${numberText((1 - value / goal.atLeast) * 100)} % too little`;
}

/** Three significant digits, thousands separated. */
export function numberText(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const digits = value === 0 || Math.abs(value) >= 100 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  const rounded = Number(value.toFixed(Math.min(digits, 6)));
  return rounded.toLocaleString('en-US', { maximumFractionDigits: Math.min(digits, 6) });
}

export function valueText({ value, unit }: Figure): string {
  return `${numberText(value)}${unit === '' || unit.startsWith('/') ? unit : ` ${unit}`}`;
}
