/** Names of options; a table below a name holds the names of the options inside it. */
export interface NameTable {
  readonly [name: string]: true | NameTable;
}

/** The table of an options type. It does not compile if it lacks a name or has one too many. */
export type OptionNames<Options> = { readonly [Name in keyof Options & string]-?: true | NameTable };

/** The names of a table with checks. */
export function namesOf(table: object): never {
  return Object.fromEntries(
    Object.entries(table).map(([name, entry]) => [name, entry.options ? namesOf(entry.options) : true]),
  ) as never;
}

/** A name that no table has. */
interface UnknownName {
  /** With the names that lead to it, such as `retry.maxAttemps`. */
  readonly path: string;
  readonly name: string;
  /** The names that are known there. */
  readonly known: readonly string[];
}

/** The first own enumerable name that has a value and is not in the table. */
export function unknownName(options: object, names: NameTable, parent = ''): UnknownName | undefined {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const inside = Object.hasOwn(names, name) ? names[name] : undefined;
    if (inside === undefined) {
      return { path: `${parent}${printable(name)}`, name: printable(name), known: Object.keys(names) };
    }
    if (inside === true) continue;
    for (const [place, item] of placesOf(name, value)) {
      const found = isPlainObject(item) ? unknownName(item, inside, `${parent}${place}.`) : undefined;
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** An option that holds options, or a list of such. */
function placesOf(name: string, value: unknown): [place: string, item: unknown][] {
  return Array.isArray(value)
    ? Array.from(value, (item: unknown, index) => [`${name}[${index}]`, item])
    : [[name, value]];
}

/** What to do about a name that does not exist: one sentence. */
export function suggestion(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  return meant === undefined ? `Known: ${known.join(', ')}.` : `Did you mean ${meant}?`;
}

/** The known name that is most like another: a typing error, another case, or a part of it. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const given = normalized(name);
  const byDistance = known
    .map((candidate) => ({ candidate, distance: distance(given, normalized(candidate)) }))
    .filter(({ distance, candidate }) => distance <= Math.max(given.length, candidate.length) / 3)
    .sort((a, b) => a.distance - b.distance);
  if (byDistance[0] !== undefined) return byDistance[0].candidate;
  if (given.length < 3) return undefined;
  return known.find(
    (candidate) => normalized(candidate).includes(given) || given.includes(normalized(candidate)),
  );
}

/** `base_url`, `baseURL` and `BaseUrl` are the same word. */
function normalized(name: string): string {
  return name.toLowerCase().replaceAll(/[_\-.\s]/g, '');
}

/** The number of insertions, deletions, replacements and swaps of neighbours between two strings. */
function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwap ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}

/** Not an instance of a class: its own properties may be anything. Objects of another realm, as in Jest, are plain too. */
export function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** A name for a message: in one line, and not longer than any real one. */
export function printable(name: string): string {
  const start = name.slice(0, 40);
  return /^[\w$]+$/.test(start) ? start : JSON.stringify(start);
}
