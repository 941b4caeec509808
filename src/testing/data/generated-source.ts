import type { CollectionName } from '../../collections/index.ts';
import type { IdSequence } from '../store/ids.ts';
import type { RowSource } from '../store/row.ts';
import type { Shape } from '../store/shape.ts';
import type { Counts } from './counts.ts';
import { Dice, mix } from './dice.ts';
import type { Surroundings } from './generator.ts';
import { fillingOf } from './generators.ts';

/** Generated records were made and changed between these two instants, whatever the clock says. */
const FROM_MS = Date.UTC(2022, 0, 1);
const UNTIL_MS = Date.UTC(2025, 0, 1);

/** The part of records that were changed after they were made. */
const CHANGED = 0.45;

/** What generated records of a company share. */
export interface Generation {
  readonly seed: number;
  readonly counts: Counts;
  readonly ids: Readonly<Record<CollectionName, IdSequence>>;
  /** Turns generated fields into a row as the collection stores it. */
  readonly shape: Shape;
}

function surroundings({ counts, ids }: Generation, collection: CollectionName, index: number): Surroundings {
  const parentIndex = (parent: CollectionName) => Math.floor((index * counts[parent]) / counts[collection]);
  return {
    index,
    parentIndex,
    parent: (parent) => (counts[parent] === 0 ? null : ids[parent].at(parentIndex(parent))),
    any: (other, dice) => (counts[other] === 0 ? null : ids[other].at(dice.between(0, counts[other] - 1))),
  };
}

/** The generated rows of one collection: each is worked out from seed and index whenever it is read. */
export function generatedSource(generation: Generation, collection: CollectionName): RowSource {
  const { seed, counts, ids } = generation;
  const count = counts[collection];
  const { at: idAt, indexOf } = ids[collection];
  const { make } = fillingOf(collection);

  // Older records have smaller ids, as in any table that has grown.
  const createdAt = (index: number) =>
    FROM_MS + Math.floor(((UNTIL_MS - FROM_MS) * index) / Math.max(1, count));
  const modifiedAt = (index: number) => {
    const created = createdAt(index);
    const chance = mix(seed + 1, index) / 2 ** 32;
    return chance > CHANGED ? created : created + Math.floor((UNTIL_MS - created) * (chance / CHANGED));
  };

  return {
    count,
    idAt,
    indexOf,
    createdAt,
    modifiedAt,
    rowAt(index) {
      const dice = new Dice(mix(seed, index));
      const fields = make(dice, surroundings(generation, collection, index));
      return generation.shape(idAt(index), fields, {
        createdAt: createdAt(index),
        modifiedAt: modifiedAt(index),
      });
    },
  };
}
