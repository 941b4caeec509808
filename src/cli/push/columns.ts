import { productServerFields } from 'accounting-data-sdk';
import { FileProblem } from '../../files/ndjson.ts';
import { nearest } from '../../internal/suggestion.ts';
import type { CellKind } from './cells.ts';
import { shellWord } from './shell.ts';

export interface ColumnOptions {
  /** Fields by the names of their columns. */
  readonly map: ReadonlyMap<string, string>;
  readonly ignored: readonly string[];
  /** The fields that a product can have. */
  readonly kinds: Readonly<Record<string, CellKind>>;
}

/** Columns that are no field. */
export class UnknownColumns extends Error {
  readonly names: readonly string[];

  constructor(names: readonly string[]) {
    super();
    this.names = names;
  }
}

/** The field of each column or member; undefined for one that is left out. */
export function fieldsOf(
  names: readonly string[],
  where: string,
  { map, ignored, kinds }: ColumnOptions,
): (string | undefined)[] {
  const unknown = new Set<string>();
  const fields = names.map((name) => {
    const mapped = map.get(name);
    if (mapped === undefined && (name === '' || ignored.includes(name) || isServerField(name)))
      return undefined;
    const field = mapped ?? name;
    if (Object.hasOwn(kinds, field)) return field;
    unknown.add(name);
    return undefined;
  });
  if (unknown.size > 0) throw new UnknownColumns([...unknown]);
  const twice = fields.find((field, index) => field !== undefined && fields.indexOf(field) !== index);
  if (twice === undefined) return fields;
  const sources = names.filter((_, index) => fields[index] === twice).map((name) => JSON.stringify(name));
  throw new FileProblem(
    `${where} names the field ${twice} ${sources.length} times: ${sources.join(', ')}.`,
    'Leave out all but one with --ignore-column, or correct --map or the file, and run the same command again.',
  );
}

/** Whether the service fills a field, which `pull` writes too. */
function isServerField(name: string): boolean {
  return name === 'id' || Object.hasOwn(productServerFields, name);
}

/** What to do about unknown columns, of which the cells look like `kinds`. The options can be pasted into a shell. */
export function unknownColumns(
  where: string,
  found: readonly (readonly [name: string, kind: CellKind])[],
  { map, kinds }: ColumnOptions,
): FileProblem {
  const all = found.map(([name, kind]) => {
    const field = map.get(name) ?? name;
    return { name, field, kind, meant: nearest(field, Object.keys(kinds)), isMapped: map.has(name) };
  });
  const described = all.map(({ name, meant }) => {
    return JSON.stringify(name) + (meant === undefined ? '' : ` (did you mean ${meant}?)`);
  });
  const unmapped = all.filter(({ isMapped }) => !isMapped);
  const options = [
    unmapped.map(({ name, meant = 'FIELD' }) => `--map ${shellWord(`${name}=${meant}`)}`),
    unmapped.map(({ name }) => `--ignore-column ${shellWord(name)}`),
    all.map(({ field, kind }) => `--custom-field ${shellWord(`${field}:${kind}`)}`),
  ].filter((flags) => flags.length > 0);
  const correct = unmapped.length < all.length ? '--map' : 'the file';
  return new FileProblem(
    `${where} names ${described.join(', ')}, ${all.length === 1 ? 'which is not a documented field' : 'which are not documented fields'} of a product.`,
    `Correct ${correct}, or add one of these options for each of them, and run the same command again:`,
    options.map((flags) => flags.join(' ')),
  );
}
