import type { CollectionName } from '../../collections/index.ts';
import type { Fields } from '../store/row.ts';
import type { SeededRandom } from './seeded-random.ts';

/** The place of a generated record among the others. */
export interface RecordContext {
  /** Its place in its collection, from 0. */
  readonly index: number;
  /**
   * The id of the record of another collection that this one belongs to; null if that collection is empty. Neighbours
   * share a parent, so that the lines of a bill of materials follow each other.
   */
  parent(collection: CollectionName): string | null;
  /** The place of that parent. */
  parentIndex(collection: CollectionName): number;
  /** The id of any record of a collection; null if it is empty. */
  any(collection: CollectionName): string | null;
}

/** Generates the fields of a record. They depend on the random numbers and the context alone. */
export type Generator = (random: SeededRandom, context: RecordContext) => Fields;
