import { productServerFields } from 'accounting-data-sdk';
import { FileProblem } from '../../files/ndjson.ts';
import { nearest } from '../../internal/suggestion.ts';
import { CommandFailure, EXIT } from '../errors.ts';
import type { CellKind } from './cells.ts';
import { DELIMITERS, headerAgain, isEmpty } from './csv.ts';
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

/** Fields by the names of their columns, as `--map` has them. A column has one field. */
export function mapOf(pairs: readonly string[]): ReadonlyMap<string, string> {
  const map = new Map<string, string>();
  for (const pair of pairs) {
    const end = pair.lastIndexOf('=');
    const [column, field] = [pair.slice(0, end).trim(), pair.slice(end + 1).trim()];
    if (end <= 0)
      throw wrong('The value of --map is not column=field.', 'Write --map "Variant SKU=productNumber".');
    if (isServerField(field)) {
      throw wrong(
        `--map names ${field}, which the service fills: it cannot be written.`,
        `Pass --ignore-column ${shellWord(column)} in its place.`,
      );
    }
    if (map.has(column)) throw ambiguous(column, 'another --map');
    map.set(column, field);
  }
  return map;
}

function ambiguous(column: string, other: string): CommandFailure {
  return wrong(
    `The column ${JSON.stringify(column)} of --map is that of ${other} too.`,
    'Leave out one of the two.',
  );
}

function wrong(message: string, advice: string): CommandFailure {
  return new CommandFailure(message, { advice, exitCode: EXIT.usage });
}

/**
 * The field of each column or member; undefined for one that is left out. Of several columns of one name, ignoring the
 * name leaves the first; of several members JSON has only the last.
 */
export function fieldsOf(
  names: readonly string[],
  where: 'the header' | `line ${number}`,
  { map, ignored, kinds }: ColumnOptions,
): (string | undefined)[] {
  const unknown = new Set<string>();
  const fields = names.map((name, at) => {
    const mapped = map.get(name);
    const field = mapped ?? name;
    const isKnown = Object.hasOwn(kinds, field);
    if (ignored.includes(name)) {
      const isOne = where !== 'the header' || names.indexOf(name) === names.lastIndexOf(name);
      if (isOne && mapped !== undefined) throw ambiguous(name, '--ignore-column');
      return isOne || names.indexOf(name) < at || !isKnown ? undefined : field;
    }
    if (isKnown) return field;
    if (mapped === undefined && (name === '' || isServerField(name))) return undefined;
    unknown.add(name);
    return undefined;
  });
  if (unknown.size > 0) throw new UnknownColumns([...unknown]);
  const twice = fields.find((field, index) => field !== undefined && fields.indexOf(field) !== index);
  if (twice === undefined) return fields;
  const sources = names.filter((_, index) => fields[index] === twice);
  const isOneName = new Set(sources).size === 1 && where === 'the header';
  throw new FileProblem(
    `${where} names the field ${twice} ${sources.length} times: ${sources.map((name) => JSON.stringify(name)).join(', ')}.`,
    isOneName
      ? `Leave out all but the first with --ignore-column ${shellWord(sources[0] ?? '')}, or correct the file, and run the same command again.`
      : 'Leave out all but one with --ignore-column, or correct --map or the file, and run the same command again.',
  );
}

/** Throws for a row that is a header again. */
export function headerCheck(
  names: readonly string[],
  fields: readonly (string | undefined)[],
  keyAt: number,
): (row: { readonly line: number; readonly cells: readonly (string | undefined)[] }) => void {
  const plain = (text = '') =>
    text
      .replace(/^\uFEFF/, '')
      .trim()
      .toLowerCase();
  const own = names.map((name, at) => [plain(name), plain(fields[at])].filter((each) => each !== ''));
  const all = new Set(own.flat());
  const keys = new Set(own[keyAt]);
  const least = Math.min(2, own.filter((each) => each.length > 0).length);
  const isHeader = (texts: readonly (string | undefined)[]) => {
    const cells = texts.map(plain);
    const filled = cells.filter((cell) => cell !== '');
    const found = filled.filter((cell) => all.has(cell));
    if (new Set(found).size < least) return false;
    if (keys.has(cells[keyAt] ?? '') || found.length === filled.length) return true;
    // Of another layout. A product may have names of columns in some cells, such as those of its options.
    return found.length * 2 >= filled.length && found.some((cell) => keys.has(cell));
  };
  return ({ line, cells }) => {
    const [first = '', ...others] = cells.filter((cell) => !isEmpty(cell));
    // With another delimiter, it is one cell.
    const readings = others.length > 0 ? [cells] : [cells, ...DELIMITERS.map((mark) => first.split(mark))];
    if (!readings.some(isHeader)) return;
    throw headerAgain(line);
  };
}

/** Whether the service fills a field, which `pull` writes too. */
export function isServerField(name: string): boolean {
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
