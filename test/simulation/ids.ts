import type { Random } from './random.ts';

/** How the ids of new records follow each other. */
export type IdStyle = 'dense' | 'sparse' | 'bursts' | 'huge';

export const ID_STYLES: readonly IdStyle[] = ['dense', 'sparse', 'bursts', 'huge'];

/** Hands out ids, ascending. `huge` ones lie beyond the integers that a JavaScript number holds exactly. */
export function idSequence(style: IdStyle, random: Random): () => bigint {
  let last = style === 'huge' ? 2n ** 53n - 20n : BigInt(random.int(0, 1000));
  return () => {
    last += BigInt(stepOf(style, random));
    return last;
  };
}

function stepOf(style: IdStyle, random: Random): number {
  if (style === 'dense') return 1;
  if (style === 'bursts') return random.chance(0.04) ? random.int(1_000, 1_000_000) : random.int(1, 2);
  // Exponential gaps: each id of the range is taken or not, independently of the others.
  if (style === 'sparse') return 1 + Math.floor(-Math.log(1 - random.next()) * 100);
  return random.int(1, 5);
}
