import { type CollectionName, collections } from '../../collections/index.ts';
import { checks, type FieldKindFacts, fieldKinds } from '../../schemas/field-kinds.ts';
import type { ListOrder } from '../../schemas/service-forms.ts';
import { at } from '../checks.ts';
import type { SandboxClock } from '../clock.ts';
import { hashText, mix } from '../data/seeded-random.ts';
import type { Fields } from '../fixtures.ts';
import type { CollectionOptions } from '../options.ts';
import { compareIds, type IdBound, placeOf, sliceOf } from './id-order.ts';
import type { IdSequence } from './ids.ts';
import { hasTimestamps, type Row, rowsOf, type Times, type ToRow } from './row.ts';
import { comparedTime } from './timestamps.ts';

/** Which records a list request selects. */
export interface Selection {
  readonly idBounds: readonly IdBound[];
  /** Only rows modified at or after it: see `comparedTime`. */
  readonly modifiedSince: number | undefined;
}

/** A record before it is stored. */
export interface GeneratedRecord {
  readonly fields: Fields;
  readonly times: Times;
}

/** A write that readers do not see yet. */
interface PendingWrite {
  readonly id: string;
  /** Undefined: a deletion. */
  readonly row: Row | undefined;
  readonly visibleAt: number;
}

/** Lists kept: pagination requests one list page by page, and some clients read several at once. */
const KEPT_LISTS = 8;

/** One collection of one company: its records, and the writes that readers do not see yet. */
export class Collection {
  readonly name: CollectionName;
  readonly segment: string;
  /** Ids of records that reject every change with 403. */
  readonly locked = new Set<string>();
  readonly options: CollectionOptions;
  readonly #clock: SandboxClock;
  readonly #ids: IdSequence;
  /** Records that are not generated yet, because nothing has used the collection: most tests use one or two. */
  #generated: Iterable<GeneratedRecord>;
  readonly #toRow: ToRow;
  /** What readers see, by id. */
  readonly #rows = new Map<string, Row>();
  /** The same rows by ascending id. */
  #sorted: Row[] = [];
  /** In the order in which they were made. */
  #pending: PendingWrite[] = [];
  /** When requests created the records that some requests may not see yet, by id. */
  readonly #createdAt = new Map<string, number>();
  /** The place of the next new id in the sequence: after every numeric id that was ever stored. */
  #nextIndex = 0;
  /** List requests so far. */
  #listed = 0;
  /** The last lists since the last write that readers see, by their selection. */
  readonly #lists = new Map<string, readonly Row[]>();

  constructor(
    name: CollectionName,
    {
      ids,
      generated,
      clock,
      options,
    }: {
      readonly ids: IdSequence;
      readonly generated: Iterable<GeneratedRecord>;
      readonly clock: SandboxClock;
      readonly options: CollectionOptions;
    },
  ) {
    this.name = name;
    this.segment = collections[name].segment;
    this.#ids = ids;
    this.#generated = generated;
    this.#clock = clock;
    this.options = options;
    this.#toRow = rowsOf(name, options);
  }

  /** How many records readers see. */
  get count(): number {
    this.#settle();
    return this.#rows.size;
  }

  /** What readers see under an id. */
  get(id: string): Row | undefined {
    this.#settle();
    return this.#rows.get(id);
  }

  /** What a writer sees under an id: the last write, whether or not readers see it. */
  latest(id: string): Row | undefined {
    const pending = this.#lastPending(id);
    return pending === undefined ? this.get(id) : pending.row;
  }

  /** Whether GET, PATCH and DELETE find a record that exists. */
  isFound(id: string): boolean {
    return this.#isOlder(id, this.options.newRecords.foundAfterMs);
  }

  /** Every record that readers see, by ascending id. */
  all(): readonly Row[] {
    this.#settle();
    return this.#sorted;
  }

  /** Whether a record is as described, by its last write. */
  some(isSo: (row: Row) => boolean): boolean {
    this.#settle();
    return (
      this.#sorted.some((row) => this.latest(row.id) === row && isSo(row)) ||
      this.#pending.some(({ id, row }) => row !== undefined && this.latest(id) === row && isSo(row))
    );
  }

  /** The records of a list, in the order of the sandbox's lists. With `ties`, pages may have orders of their own. */
  list(selection: Selection, page: number): readonly Row[] {
    const rows = this.#select(selection, page);
    const { listedAfterMs } = this.options.newRecords;
    return this.#createdAt.size === 0 ? rows : rows.filter(({ id }) => this.#isOlder(id, listedAfterMs));
  }

  #select(selection: Selection, page: number): readonly Row[] {
    this.#settle();
    this.#listed += 1;
    const { order, ties, seed, cursor } = this.options;
    const numbered = { 'id-asc': undefined, 'each-page': page, 'each-response': this.#listed };
    const tieSeed = cursor === undefined ? numbered[ties] : undefined;
    const key = JSON.stringify([selection, tieSeed]);
    const known = this.#lists.get(key);
    if (known !== undefined) return known;

    const { idBounds, modifiedSince = -Infinity } = selection;
    const selected = this.#sorted
      .slice(...sliceOf(this.#sorted, idBounds))
      .filter((row) => comparedTime(row.modifiedAt, this.options) >= modifiedSince);
    const list = inOrder(selected, order, tieSeed === undefined ? undefined : mix(seed, tieSeed));
    if (this.#lists.size >= KEPT_LISTS) this.#lists.clear();
    this.#lists.set(key, list);
    return list;
  }

  /** Stores the record that a request creates. */
  create(fields: Fields): Row {
    const row = this.insert(fields);
    const { listedAfterMs, foundAfterMs } = this.options.newRecords;
    if (listedAfterMs + foundAfterMs > 0) this.#createdAt.set(row.id, this.#clock.now());
    return row;
  }

  /** Stores a record under its id, or the next one. */
  insert(fields: Fields, visibleAfterMs?: number): Row {
    const now = this.#clock.now();
    const id = idIn(fields) ?? this.#nextId();
    const times = { createdAt: now, modifiedAt: now, ...timesIn(fields) };
    return this.#write(this.#toRow(id, fields, times), visibleAfterMs);
  }

  /** Changes the fields given: `null` clears, a field left out stays. */
  update(before: Row, fields: Fields, visibleAfterMs?: number): Row {
    const times = { createdAt: before.createdAt, modifiedAt: this.#clock.now(), ...timesIn(fields) };
    return this.#write(this.#toRow(before.id, { ...before.record, ...fields }, times), visibleAfterMs);
  }

  delete(id: string, visibleAfterMs?: number): void {
    this.#schedule(id, undefined, visibleAfterMs);
  }

  /** Removes every record, the pending ones too. */
  clear(): void {
    this.#settle();
    this.#rows.clear();
    this.#sorted = [];
    this.#pending = [];
    this.#createdAt.clear();
    this.#lists.clear();
  }

  /** Whether a request created a record at least so long ago, or no request did. */
  #isOlder(id: string, ms: number): boolean {
    return this.#clock.now() - (this.#createdAt.get(id) ?? -Infinity) >= ms;
  }

  /** The next id of the sequence that no record has: a test may have stored some itself. */
  #nextId(): string {
    this.#settle();
    let id: string;
    do {
      id = this.#ids.at(this.#nextIndex);
      this.#nextIndex += 1;
    } while (this.latest(id) !== undefined);
    return id;
  }

  #write(row: Row, visibleAfterMs: number | undefined): Row {
    this.#schedule(row.id, row, visibleAfterMs);
    return row;
  }

  #schedule(id: string, row: Row | undefined, visibleAfterMs = this.options.commitDelayMs): void {
    this.#settle();
    this.#nextIndex = Math.max(this.#nextIndex, this.#ids.indexAfter(id));
    const now = this.#clock.now();
    // A later write never overtakes an earlier one of the same record.
    const visibleAt = Math.max(now + visibleAfterMs, this.#lastPending(id)?.visibleAt ?? -Infinity);
    if (visibleAt <= now) this.#apply(id, row);
    else this.#pending.push({ id, row, visibleAt });
  }

  /** Generates the records at the first use, and makes the writes visible whose time has come. */
  #settle(): void {
    for (const { fields, times } of this.#generated) {
      const row = this.#toRow(this.#ids.at(this.#nextIndex), fields, times);
      this.#rows.set(row.id, row);
      this.#sorted.push(row);
      this.#nextIndex += 1;
    }
    this.#generated = [];
    if (this.#pending.length === 0) return;
    const now = this.#clock.now();
    const pending = this.#pending;
    this.#pending = pending.filter(({ visibleAt }) => visibleAt > now);
    for (const { id, row, visibleAt } of pending) if (visibleAt <= now) this.#apply(id, row);
  }

  #apply(id: string, row: Row | undefined): void {
    this.#lists.clear();
    const place = placeOf(this.#sorted, id);
    const replaced = this.#rows.has(id) ? 1 : 0;
    if (row === undefined) {
      this.#rows.delete(id);
      this.#sorted.splice(place, replaced);
    } else {
      this.#rows.set(id, row);
      this.#sorted.splice(place, replaced, row);
    }
  }

  #lastPending(id: string): PendingWrite | undefined {
    return this.#pending.findLast((write) => write.id === id);
  }

  /** Throws for an amount or a timestamp that a test cannot mean, except in a field that may hold anything. */
  checkFields(fields: Fields): void {
    const kinds = collections[this.name].fields;
    const timed = hasTimestamps(this.name, this.options);
    for (const [field, value] of Object.entries(fields)) {
      const isTime = field === 'createdAt' || field === 'updatedAt';
      if (timed && isTime && typeof value === 'string' && Number.isNaN(Date.parse(value))) {
        throw at(field, new RangeError(`${this.segment}: ${value} is not a timestamp.`));
      }
      const kind = Object.hasOwn(kinds, field) ? kinds[field] : undefined;
      if (kind === undefined || value === null || value === undefined || checks[kind](value)) continue;
      const { pattern, expected, example }: FieldKindFacts = fieldKinds[kind];
      if (pattern !== undefined) {
        throw at(
          field,
          new TypeError(`${this.segment}: ${field} is ${expected} such as ${JSON.stringify(example)}.`),
        );
      }
    }
  }
}

/** The id of a record; that of a fixture may be a number. */
export function idIn({ id }: Fields): string | undefined {
  if (typeof id === 'number') return String(id);
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** The timestamps among the fields, which may hold anything else there. */
function timesIn({ createdAt, updatedAt }: Fields): Partial<Times> {
  const [created, modified] = [createdAt, updatedAt].map((value) =>
    typeof value === 'string' ? Date.parse(value) : Number.NaN,
  ) as [number, number];
  return {
    ...(Number.isNaN(created) ? {} : { createdAt: created }),
    ...(Number.isNaN(modified) ? {} : { modifiedAt: modified }),
  };
}

/** Rows by ascending id, brought into another order. Rows that are equal in it are shuffled by the seed, if there is one. */
function inOrder(rows: readonly Row[], order: ListOrder, tieSeed: number | undefined): readonly Row[] {
  if (order === 'id-asc') return rows;
  if (order === 'id-desc') return rows.toReversed();

  const sign = order.endsWith('-desc') ? -1 : 1;
  const tieKey = tieSeed === undefined ? () => 0 : ({ id }: Row) => mix(tieSeed, hashText(id));
  return rows
    .map((row) => ({ row, key: sortKey(row, order), tie: tieKey(row) }))
    .sort((a, b) => sign * (a.key - b.key) || a.tie - b.tie)
    .map(({ row }) => row);
}

/** Where a row stands in a list. It is known even after the row was deleted. */
export type Place = readonly [key: number, id: string];

/** The place of a row in a list without seeds of ties. */
export function placeIn(row: Row, order: ListOrder): Place {
  return [order.startsWith('id-') ? 0 : sortKey(row, order), row.id];
}

/** Whether a place comes after another one. */
export function comesAfter([key, id]: Place, [otherKey, otherId]: Place, order: ListOrder): boolean {
  const sign = order.endsWith('-desc') ? -1 : 1;
  const byId = compareIds(id, otherId) * (order === 'id-desc' ? -1 : 1);
  return (sign * (key - otherKey) || byId) > 0;
}

function sortKey({ id, createdAt, modifiedAt }: Row, order: ListOrder): number {
  // A change moves a record, as in a database table that is read without an order.
  if (order === 'none') return mix(hashText(id), modifiedAt);
  return order.startsWith('created') ? createdAt : modifiedAt;
}
