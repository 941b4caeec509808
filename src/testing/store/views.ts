import { hashText, mix } from '../data/dice.ts';
import type { ListOrder } from '../options.ts';
import type { ResolvedSandboxOptions } from '../resolve-options.ts';
import { descending, type RowList, rowsById } from './by-id.ts';
import { compareIds } from './compare-ids.ts';
import { type IdRange, passes, reaches } from './id-range.ts';
import type { VisibleRows } from './rows.ts';
import { at } from './search.ts';
import { comparedTime } from './timestamps.ts';

/** What a list request selects. */
export interface Selection {
  readonly range: IdRange;
  /** Only rows modified at or after it: see `comparedTime`. */
  readonly modifiedSince: number | undefined;
}

/** A list worked out in full: a generated row by its index, a written one by -1 - its place. */
type Places = Int32Array;

/** Views kept for each collection: a walk asks for one view page by page. */
const KEPT_VIEWS = 4;

/**
 * The lists of one collection in one order. By id, without `updatedSince`, nothing is kept. Any other list is worked
 * out once for each state of the collection and cut into pages from then on.
 */
export class Views {
  readonly #rows: VisibleRows;
  readonly #order: ListOrder;
  readonly #options: ResolvedSandboxOptions;
  #version = -1;
  #views = new Map<string, Places>();

  constructor(rows: VisibleRows, options: ResolvedSandboxOptions) {
    this.#rows = rows;
    this.#order = options.order;
    this.#options = options;
  }

  list(selection: Selection): RowList {
    if (selection.modifiedSince === undefined && this.#order.startsWith('id-')) {
      const rising = rowsById(this.#rows, selection.range);
      return this.#order === 'id-asc' ? rising : descending(rising);
    }

    const places = this.#kept(selection);
    const { source, written } = this.#rows;
    return {
      length: places.length,
      slice: (from, to) =>
        Array.from(places.subarray(Math.max(0, from), to), (place) =>
          place >= 0 ? source.rowAt(place) : at(written, -1 - place),
        ),
    };
  }

  #kept(selection: Selection): Places {
    if (this.#version !== this.#rows.version) {
      this.#views.clear();
      this.#version = this.#rows.version;
    }
    const key = JSON.stringify(selection);
    const kept = this.#views.get(key);
    if (kept !== undefined) return kept;

    const places = order(select(this.#rows, selection, this.#options), this.#rows, this.#order);
    const oldest = this.#views.keys().next();
    if (this.#views.size >= KEPT_VIEWS && oldest.done !== true) this.#views.delete(oldest.value);
    this.#views.set(key, places);
    return places;
  }
}

/** The places of the rows that a selection holds, by rising id. */
function select(
  rows: VisibleRows,
  { range, modifiedSince }: Selection,
  options: ResolvedSandboxOptions,
): Places {
  const { source, departed, written } = rows;
  const places: number[] = [];
  const isRecent = (ms: number) => modifiedSince === undefined || comparedTime(ms, options) >= modifiedSince;
  const holds = (id: string) => reaches(id, range) && !passes(id, range);
  let gone = 0;
  let w = 0;
  const takeWritten = (below: string | undefined) => {
    for (; w < written.length; w += 1) {
      const row = at(written, w);
      if (below !== undefined && compareIds(row.id, below) > 0) return;
      if (isRecent(row.modifiedAt) && holds(row.id)) places.push(-1 - w);
    }
  };

  for (let index = 0; index < source.count; index += 1) {
    if (departed[gone] === index) {
      gone += 1;
      continue;
    }
    if (!isRecent(source.modifiedAt(index))) continue;
    const id = source.idAt(index);
    takeWritten(id);
    if (holds(id)) places.push(index);
  }
  takeWritten(undefined);
  return Int32Array.from(places);
}

/** Sorts places; rows that are equal in the order's key stay by rising id. */
function order(places: Places, rows: VisibleRows, by: ListOrder): Places {
  if (by === 'id-asc') return places;
  if (by === 'id-desc') return places.reverse();

  const keyOf = sortKey(rows, by);
  const sign = by.endsWith('desc') ? -1 : 1;
  const keys = Float64Array.from(places, keyOf);
  const ranks = Uint32Array.from(places, (_, i) => i);
  ranks.sort((a, b) => sign * (at(keys, a) - at(keys, b)) || a - b);
  return Int32Array.from(ranks, (rank) => at(places, rank));
}

function sortKey({ source, written }: VisibleRows, by: ListOrder): (place: number) => number {
  if (by === 'none') {
    // A change gives a record another place, as in a table that is read without an order.
    return (place) => {
      const row = place >= 0 ? undefined : at(written, -1 - place);
      const [id, moment] = row ? [row.id, row.modifiedAt] : [source.idAt(place), source.modifiedAt(place)];
      return mix(hashText(id), moment);
    };
  }
  const key = by.startsWith('created') ? 'createdAt' : 'modifiedAt';
  return (place) => (place >= 0 ? source[key](place) : at(written, -1 - place)[key]);
}
