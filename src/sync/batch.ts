import type { InvalidRecord } from '../events.ts';

/** What a sync hands over at a time: one page of one collection, and how far the sync is once it is taken in. */
export interface Batch<T, Name extends string = string> {
  /** The name of the collection, as the client's property. */
  readonly collection: Name;
  /** To be upserted by (tenant, collection, id): after a crash the same records come again. */
  readonly records: readonly T[];
  /** Rows that did not fit their schema, under `validation: 'report'`. */
  readonly invalid: readonly InvalidRecord[];
  /** Where the checkpoint is kept. */
  readonly key: string;
  /**
   * How far the sync is once this batch is taken in: an opaque string under 1 kB. Written to the store when you have
   * finished with the batch; a store without `set` leaves it to you, in the transaction of the records.
   */
  readonly checkpoint: string;
  /** The batch that ends the run. It has no records; its checkpoint carries the new watermark. */
  readonly last: boolean;
}
