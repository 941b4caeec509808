/** How much is measured. */
export interface Effort {
  /** Rounds in fresh processes, in which the clients alternate. */
  readonly rounds: number;
  /** A hundredth of the work: to see that everything runs, not what it costs. */
  readonly quick: boolean;
}

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** What a part of the bench found. */
export interface Findings {
  readonly tables: readonly Table[];
  /** Our figure for each goal of the part, by the name of the goal. */
  readonly figures: Readonly<Record<string, number>>;
}

export type Part = (effort: Effort) => Promise<Findings>;
