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

/** Pages 1 to 4, far; gt, lt, gte with lte; between; updatedSince four times; a missing record. */
const USUAL = 14;
/** If `gte` and `lte` do not work together, each is requested alone; a date filter may compare local times. */
const MOST = USUAL + 4;
/** Once for all collections: a bound above int4, and how far a date filter is from UTC. */
const ONCE = { usual: 1, most: 9 };
const WRITES = { usual: 10, most: 24 };

export function planOf(collections: readonly CollectionName[], writes: boolean): ProbePlan {
  const count = collections.length;
  return {
    collections,
    requests: count * USUAL + ONCE.usual + (writes ? WRITES.usual : 0),
    // Other separators are tried in one collection at most.
    atMost: count * MOST + ONCE.most + SEPARATORS.length - 1 + (writes ? WRITES.most : 0),
    writes,
  };
}
