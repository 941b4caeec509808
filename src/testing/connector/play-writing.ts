import type { ProductRow, WritingCase } from './case.ts';
import { judgeProducts } from './judge-products.ts';
import type { ConnectorRun } from './run-connector.ts';
import { endingProblems, runNight } from './run-night.ts';
import type { Stage } from './stage.ts';

/** A run of a connector that writes. */
export interface WritingRun extends ConnectorRun {
  /** The rows to bring into the service. */
  readonly products: readonly ProductRow[];
}

/** What a case of writing needs of the user's connector. */
export interface WritingConnector {
  readonly run: (run: WritingRun) => unknown;
  readonly timeoutMs: number;
}

const ROWS = 12;

/** Plays the nights of a case, and returns what is wrong after the first one that goes wrong, as sentences. */
export async function playWriting(
  { prepare, nights }: WritingCase,
  stage: Stage,
  { run, timeoutMs }: WritingConnector,
): Promise<readonly string[]> {
  const { faults } = stage.sandbox;
  const rows = Array.from({ length: ROWS }, (_, n) => ({
    productNumber: `desk-${n + 1}`,
    name: `Desk ${n + 1}`,
    salePrice: stage.random.money(100, 99_999),
  }));
  prepare?.(stage, rows);
  for (const night of nights) {
    const products = night.rows?.(rows) ?? rows;
    stage.beginNight(() => {});
    const rules = (night.faults ?? []).map(([fault, match]) => faults.add(fault, match));
    const runRows = (context: ConnectorRun) => run({ ...context, products });
    const endings = await runNight(stage, { run: runRows, timeoutMs }, night);
    for (const rule of rules) rule.remove();
    // Every write is visible an hour later.
    stage.beginNight(() => {});
    const problems = [
      ...endings.flatMap((ending) => endingProblems(ending, night)),
      ...judgeProducts({
        rows: products,
        products: stage.store('products').all(),
        isComplete: night.isComplete === true || endings.every(({ how }) => how === 'well'),
        locked: stage.locked,
      }),
    ];
    if (problems.length > 0) return problems;
  }
  return [];
}
