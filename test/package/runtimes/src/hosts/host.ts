import type { Outcome } from '../scenario/outcome.ts';

/** What a host needs to run the scenario. */
export interface Stage {
  /** Where books are ordered. */
  readonly orders: string;
  /** Told of each step as it ends. */
  readonly onOutcome: (outcome: Outcome) => void;
}

/** A runtime and the way to run the scenario on it. */
export interface Host {
  readonly name: string;
  readonly informative?: boolean;
  /** Rejects where the runtime cannot be tried. */
  version(): Promise<string>;
  run(stage: Stage): Promise<void>;
}
