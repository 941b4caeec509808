import type { CollectionName } from '../../collections/index.ts';
import { SEPARATORS } from './between.ts';

/** How many requests a probe will send. A request that fails for a moment is repeated, as by any client. */
export interface ProbePlan {
  readonly collections: readonly CollectionName[];
  /** Of a service whose collections have records and whose filters work as documented. */
  readonly requests: number;
  /** However the service answers. */
  readonly atMost: number;
  /** Whether a product will be made, changed and deleted. */
  readonly writes: boolean;
}

/** First page, second, far; gt, lt, gte with lte; between; updatedSince three times; a missing record. */
const USUAL = 11;
/** Where `gte` and `lte` do not work together each is asked for alone. */
const MOST = USUAL + 2;
const WRITES = { usual: 10, most: 18 };

export function planOf(collections: readonly CollectionName[], writes: boolean): ProbePlan {
  const count = collections.length;
  return {
    collections,
    requests: count * USUAL + (writes ? WRITES.usual : 0),
    // Other separators are tried in one collection at most.
    atMost: count * MOST + SEPARATORS.length - 1 + (writes ? WRITES.most : 0),
    writes,
  };
}
