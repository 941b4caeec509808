import { type CollectionName, collectionNames } from '../collections/index.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';

/** The collections to ask about, each once; InvalidInputError for one that does not exist. */
export function checkNames(names: readonly CollectionName[]): readonly CollectionName[] {
  const stranger = names.find((name) => !collectionNames.includes(name));
  if (stranger === undefined && names.length > 0) return [...new Set(names)];
  throw new InvalidInputError('collections', `must name some of ${collectionNames.join(', ')}`);
}

/** Codes of errors that the next collection would meet as well: who meets one first gives up. */
const HOPELESS = new Set(['unauthenticated', 'connection_failed', 'timeout', 'redirected', 'invalid_input']);

export function isHopeless(code: string): boolean {
  return HOPELESS.has(code);
}
