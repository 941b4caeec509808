import { type CollectionName, collectionNames } from '../collections/index.ts';
import {
  type Check,
  group,
  isPlainObject,
  type Option,
  type OptionGroup,
  type OptionInputs,
  type OptionTable,
  optional,
  type ResolvedOptions,
  withDefaults,
} from '../internal/options.ts';
import { checkCollections } from './checks.ts';

/** Something for each collection that is named. */
export type ByCollection<T> = { readonly [Name in CollectionName]?: T | undefined };

/** The options of a group, and those of a collection by its name, which win over them. */
export type WithCollections<Table extends OptionTable> = Table &
  Readonly<Record<CollectionName, OptionGroup<Table, never, OptionInputs<Table>, undefined>>>;

/** A group of options that a collection can have for itself. */
export function groupByCollection<Table extends OptionTable, Inputs extends object>(
  table: Table,
): OptionGroup<WithCollections<Table>, never, Inputs> {
  const own = optional(group(table));
  const each = Object.fromEntries(collectionNames.map((name) => [name, own]));
  // The compiler does not know the names of the entries.
  return group<WithCollections<Table>, never, Inputs>({
    ...table,
    ...each,
  } as unknown as WithCollections<Table>);
}

/** The options of one collection in a group. */
export function groupOf<Table extends OptionTable>(
  table: Table,
  given: ResolvedOptions<Table>,
  name: CollectionName,
): ResolvedOptions<Table> {
  const own = (given as ByCollection<OptionInputs<Table>>)[name];
  return own === undefined ? given : withDefaults(table, own, given);
}

/** A value for all collections, or one for each that is named: the others have the default. */
export function byCollection<T extends string | boolean>(check: Check<T>): Check<T | ByCollection<T>> {
  return {
    expected: `${check.expected}, or an object with one for each collection`,
    allows: (value): value is T | ByCollection<T> =>
      check.allows(value) || (isPlainObject(value) && Object.values(value).every(check.allows)),
    verify(value, name) {
      if (typeof value === 'object') checkCollections(name, Object.keys(value));
    },
    ...(check.values !== undefined && { values: check.values }),
  };
}

/** The value of one collection: its own, or that of all. */
export function valueFor<T extends string | boolean>(
  { default: orElse }: Option<T | ByCollection<T>>,
  value: T | ByCollection<T>,
  name: CollectionName,
): T {
  const own = typeof value === 'object' ? (value[name] ?? orElse) : value;
  // A default is never an object.
  return own as T;
}
