import type { ProductRow } from './case.ts';
import { judgeProducts } from './judge-products.ts';
import type { Half } from './play.ts';
import type { ConnectorRun } from './run-connector.ts';
import type { Stage } from './stage.ts';

/** A run of a connector that writes. */
export interface WritingRun extends ConnectorRun {
  /** The rows to bring into the service. */
  readonly products: readonly ProductRow[];
}

const ROWS = 12;

/** The half of a connector that writes. */
export function writingHalf(stage: Stage, run: (run: WritingRun) => unknown): Half {
  const rows = Array.from({ length: ROWS }, (_, n) => ({
    productNumber: `desk-${n + 1}`,
    name: `Desk ${n + 1}`,
    salePrice: stage.random.money(100, 99_999),
  }));
  return {
    rows,
    run: (context, night) => run({ ...context, products: night.rows?.(rows) ?? rows }),
    judge: async (night, endings) =>
      judgeProducts({
        rows: night.rows?.(rows) ?? rows,
        before: stage.timeline('products').held(),
        products: stage.store('products').all(),
        isComplete: night.completeAnyway !== undefined || endings.every(({ how }) => how === 'well'),
        locked: stage.locked,
      }),
  };
}
