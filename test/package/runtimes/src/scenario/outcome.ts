/** What every runtime must do, in this order. */
export const stepNames = ['walk', 'create', 'errors', 'broken', 'abort', 'gate', 'sync'] as const;

export type StepName = (typeof stepNames)[number];

/** How a step ended. */
export interface Outcome {
  readonly step: StepName;
  readonly ok: boolean;
  /** What it has seen, or why it failed. */
  readonly note: string;
}

/** Runs one step; a failure is an outcome like any other. */
export async function runStep(step: StepName, run: () => Promise<string>): Promise<Outcome> {
  try {
    return { step, ok: true, note: await run() };
  } catch (error) {
    return { step, ok: false, note: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
