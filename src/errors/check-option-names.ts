import { type NameTable, suggestion, unknownName } from '../internal/option-names.ts';
import { InvalidInputError } from './invalid-input-error.ts';

/** Another place in which a name is an option, and what to say to the caller who looks for it here. */
export interface Elsewhere {
  readonly names: NameTable;
  readonly advice: string;
}

/**
 * Rejects an option that does not exist, by its name. TypeScript finds most of them; JavaScript none, and an option
 * without effect looks like one that works.
 */
export function checkOptionNames(
  options: unknown,
  names: NameTable,
  { of, elsewhere = [] }: { readonly of: string; readonly elsewhere?: readonly Elsewhere[] },
): void {
  if (typeof options !== 'object' || options === null) return;
  const found = unknownName(options, names);
  if (found === undefined) return;
  const place = elsewhere.find(
    (other) => found.path === found.name && Object.hasOwn(other.names, found.name),
  );
  const advice = place?.advice ?? suggestion(found.name, found.known);
  throw new InvalidInputError(found.path, `is not an option of ${of}. ${advice}`);
}
