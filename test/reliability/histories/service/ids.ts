import type { SeededRandom } from '../../../support/seeded-random.ts';

/**
 * How the ids of new records follow each other. `clusters`: from 1 and just below the largest int4. `int4` and `int8`:
 * anywhere in that type. `descending`: a new record has the lowest id. The others ascend; `huge` ones lie beyond the
 * integers that a JavaScript number holds exactly.
 */
export type IdStyle = 'dense' | 'sparse' | 'bursts' | 'huge' | 'clusters' | 'int4' | 'int8' | 'descending';

/** Those whose ids ascend with time. */
export const ID_STYLES: readonly IdStyle[] = ['dense', 'sparse', 'bursts', 'huge'];

export const MAX_INT4 = 2n ** 31n - 1n;
export const MAX_INT8 = 2n ** 63n - 1n;

/** Hands out ids, each once. */
export function idSequence(style: IdStyle, random: SeededRandom): () => bigint {
  if (style === 'int4' || style === 'int8') return anywhere(style, random);
  if (style === 'descending') {
    let next = BigInt(random.int(1_000_000, 2_000_000_000));
    return () => {
      next -= BigInt(random.int(1, 5));
      return next;
    };
  }
  if (style === 'clusters') return clusters(random);
  let last = style === 'huge' ? 2n ** 53n - 20n : BigInt(random.int(0, 1000));
  return () => {
    last += BigInt(stepOf(style, random));
    return last;
  };
}

function anywhere(style: 'int4' | 'int8', random: SeededRandom): () => bigint {
  const most = style === 'int4' ? MAX_INT4 : MAX_INT8;
  const used = new Set<bigint>();
  return () => {
    for (;;) {
      // 64 random bits, of which the type keeps as many as it has.
      const bits = (BigInt(random.int(0, 2 ** 32 - 1)) << 32n) | BigInt(random.int(0, 2 ** 32 - 1));
      const id = 1n + (bits % most);
      if (!used.has(id)) {
        used.add(id);
        return id;
      }
    }
  };
}

function clusters(random: SeededRandom): () => bigint {
  let low = 0n;
  let high = MAX_INT4 + 1n;
  return () => {
    if (random.chance(0.4)) return ++low;
    return --high;
  };
}

function stepOf(style: IdStyle, random: SeededRandom): number {
  if (style === 'dense') return 1;
  if (style === 'bursts') return random.chance(0.04) ? random.int(1_000, 1_000_000) : random.int(1, 2);
  // Exponential gaps: each id of the range is taken or not, independently of the others.
  if (style === 'sparse') return 1 + Math.floor(-Math.log(1 - random.next()) * 100);
  return random.int(1, 5);
}
