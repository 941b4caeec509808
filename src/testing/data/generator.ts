import type { CollectionName } from '../../collections/index.ts';
import type { Fields } from '../store/shape.ts';
import type { Dice } from './dice.ts';

/** What a generated record knows of its surroundings. */
export interface Surroundings {
  /** Its place in its collection, from 0. */
  readonly index: number;
  /**
   * The id of the record of another collection that this one belongs to; null where that one is empty. Neighbours
   * share a parent, so that the lines of a bill of materials lie together.
   */
  parent(collection: CollectionName): string | null;
  /** The place of that parent. */
  parentIndex(collection: CollectionName): number;
  /** The id of any record of a collection; null where it is empty. */
  any(collection: CollectionName, dice: Dice): string | null;
}

/** Makes the fields of a record. They depend on the dice and the surroundings alone. */
export type Generator = (dice: Dice, around: Surroundings) => Fields;
