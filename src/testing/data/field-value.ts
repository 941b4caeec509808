import { type FieldKind, type FieldKindFacts, fieldKinds, type JsonType } from '../../schemas/field-kinds.ts';
import type { SeededRandom } from './seeded-random.ts';
import * as words from './words.ts';

type Generate = (random: SeededRandom) => unknown;

const OF_JSON: Readonly<Record<JsonType, Generate>> = {
  string: (random) => `${random.pick(words.ADJECTIVES)} ${random.digits(4)}`,
  boolean: (random) => random.chance(0.5),
  integer: (random) => random.between(0, 100),
  number: (random) => random.between(0, 400) / 4,
  array: (random) => [random.pick(words.TAGS)],
};

/** Of kinds whose values vary in another way than their JSON type does. */
const OF_KIND: { readonly [Kind in FieldKind]?: Generate } = {
  money: (random) => random.money(100, 500_000),
  timestamp: (random) => `${random.date(2022, 2025)}T12:00:00Z`,
};

/** A value for a documented field for which the generator of its collection has none. */
export function fieldValue(kind: FieldKind, random: SeededRandom): unknown {
  const { json, pattern, example }: FieldKindFacts = fieldKinds[kind];
  const generate = OF_KIND[kind] ?? (pattern === undefined ? OF_JSON[json] : () => example);
  return generate(random);
}
