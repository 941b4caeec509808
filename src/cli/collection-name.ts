import { InvalidArgumentError } from 'commander';
import { type CollectionName, collectionNames, collections } from '../collections/index.ts';

const spelt = (text: string) => text.toLowerCase().replaceAll(/[^a-z]/g, '');

/** A collection by the client's name for it or by its path segment, in any spelling of the two. */
export function collectionName(text: string): CollectionName {
  const found = collectionNames.find((name) =>
    [name, collections[name].segment].some((one) => spelt(one) === spelt(text)),
  );
  if (found !== undefined) return found;
  throw new InvalidArgumentError(`There is none of this name. There are ${collectionNames.join(', ')}.`);
}

/** One more collection of a list of them. */
export function collectionNameList(text: string, before: readonly CollectionName[] = []): CollectionName[] {
  return [...before, collectionName(text)];
}
