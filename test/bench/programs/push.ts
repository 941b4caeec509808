/** Pushes rows to as many products, or lists these alone, and prints the memory of this process. */
import type { ProductDraft } from '../../../src/index.ts';
import { createClient, push } from '../support/built.ts';
import { API_KEY } from '../support/client.ts';
import { FIRST_ID, recordJson } from '../support/records.ts';

export interface PushRun {
  readonly origin: string;
  readonly rows: number;
  readonly run: 'list' | 'unchanged' | 'changed';
  /** Collects garbage now and then, to see what is held. */
  readonly collects: boolean;
}

export interface PushCost {
  /** The most heap and buffers in use after a collection, in MB. */
  readonly heldMb: number;
  readonly peakRssMb: number;
  readonly seconds: number;
}

const { origin, rows, run, collects } = JSON.parse(process.argv[2] ?? '') as PushRun;
const { products } = createClient({ baseUrl: origin, apiKey: API_KEY });

let held = 0;
const look = () => {
  if (!collects) return;
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  held = Math.max(held, heapUsed + arrayBuffers);
};

/** The number of progress reports, of 100 products or 1,000 rows each, between two collections. */
const EVERY = 100;

const FIELDS = ['name', 'productNumber', 'ean', 'brand', 'model', 'remark', 'salePrice', 'isWebShop', 'tags'];

/** As many different drafts as the service has different products. */
const drafts = Array.from({ length: 100 }, (_, index) => {
  const product = JSON.parse(recordJson(index)) as Record<string, unknown>;
  return Object.fromEntries(FIELDS.map((name) => [name, product[name]]));
});

/** The products of the bench have no natural key, so that the id takes its place. */
let rowId = '';

function* shopRows(): Generator<ProductDraft> {
  for (let index = 0; index < rows; index++) {
    rowId = String(FIRST_ID + index);
    const infoUrl = run === 'changed' ? `https://shop.example/${index}` : undefined;
    yield { ...drafts[index % drafts.length], infoUrl };
  }
}

const startedAt = performance.now();
if (run === 'list') {
  let seen = 0;
  for await (const page of products.list().pages()) {
    seen += page.records.length;
    if (seen % (EVERY * 100) < page.records.length) look();
  }
  if (seen !== rows) throw new Error(`${seen} products were listed`);
} else {
  let reports = 0;
  const { counts } = await push(products, {
    tenant: 'bench',
    rows: shopRows(),
    key: (row) => ('id' in row ? row.id : rowId),
    store: new Map(),
    dryRun: true,
    onProgress: () => {
      if (++reports % EVERY === 0) look();
    },
  });
  const done = run === 'changed' ? counts.updated : counts.unchanged;
  if (done !== rows) throw new Error(`the push planned ${JSON.stringify(counts)}`);
}
const cost: PushCost = {
  heldMb: held / 2 ** 20,
  peakRssMb: process.resourceUsage().maxRSS / 1024,
  seconds: (performance.now() - startedAt) / 1000,
};
console.log(JSON.stringify(cost));
process.exit();
