import type { ProductRow } from './case.ts';
import { formOf, judgeProducts } from './judge-products.ts';
import type { Half } from './play.ts';
import type { ConnectorRun } from './run-connector.ts';
import type { Stage } from './stage.ts';
import type { Fields } from './timeline.ts';

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
  const products = () => stage.store('products').all();
  return {
    rows,
    run: (context, night) => run({ ...context, products: night.rows?.(rows) ?? rows }),
    judge: async (night, endings) =>
      judgeProducts({
        rows: night.rows?.(rows) ?? rows,
        before: stage.timeline('products').held(),
        products: products(),
        isComplete: night.completeAnyway !== undefined || endings.every(({ how }) => how === 'well'),
        isLocked: (product) => stage.isLocked('products', product),
      }),
    unreported() {
      const stored = new Set(products().map(({ productNumber }) => formOf(productNumber)));
      const creates = stage.sandbox.requests
        .filter(({ method }) => method === 'POST')
        .map(({ body, status }) => [formOf((body as Fields | undefined)?.productNumber), status] as const);
      return [...new Map(creates)].flatMap(([key, status]) => {
        if (stored.has(key) || (status !== undefined && status < 400)) return [];
        const what = status === undefined ? 'had no response' : `was rejected with ${status}`;
        return `The run reported success although the create of ${JSON.stringify(key)} ${what}.`;
      });
    },
  };
}
