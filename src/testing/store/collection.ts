import { type CollectionName, collections } from '../../collections/index.ts';
import type { ResolvedSandboxOptions } from '../resolve-options.ts';
import { type RowList, rowsById } from './by-id.ts';
import type { Row, RowSource } from './row.ts';
import { CollectionRows } from './rows.ts';
import { type Fields, type Shape, shapeOf, showsTimes, type Times } from './shape.ts';
import { Views } from './views.ts';

/** When a write happens and when readers see it; ms since the epoch. */
export interface WriteTime {
  readonly now: number;
  readonly visibleAt: number;
}

/** One collection of one company: what is in it, and how a record gets in. */
export class Collection {
  readonly name: CollectionName;
  readonly segment: string;
  readonly rows: CollectionRows;
  readonly views: Views;
  /** Ids whose records refuse to be changed or deleted. */
  readonly locked = new Set<string>();
  readonly #shape: Shape;
  readonly #timed: boolean;

  constructor(name: CollectionName, source: RowSource, options: ResolvedSandboxOptions) {
    this.name = name;
    this.segment = collections[name].segment;
    this.rows = new CollectionRows(source);
    this.views = new Views(this.rows, options);
    this.#shape = shapeOf(name, options);
    this.#timed = showsTimes(name, options);
  }

  /** Every record that readers see, by rising id. */
  byId(): RowList {
    return rowsById(this.rows, []);
  }

  /** Stores a new record under the id given, or the next one. */
  insert(fields: Fields, time: WriteTime): Row {
    const id = typeof fields.id === 'string' ? fields.id : this.rows.nextId();
    const createdAt = this.#given(fields.createdAt) ?? time.now;
    return this.#write(
      id,
      fields,
      { createdAt, modifiedAt: this.#given(fields.updatedAt) ?? time.now },
      time,
    );
  }

  /** Changes the fields given; `null` clears, what is left out stays. */
  update(before: Row, fields: Fields, time: WriteTime): Row {
    const createdAt = this.#given(fields.createdAt) ?? before.createdAt;
    const modifiedAt = this.#given(fields.updatedAt) ?? time.now;
    return this.#write(before.id, { ...before.record, ...fields }, { createdAt, modifiedAt }, time);
  }

  delete(id: string, time: WriteTime): void {
    this.rows.write(id, undefined, time);
  }

  #write(id: string, fields: Fields, times: Times, time: WriteTime): Row {
    const row = this.#shape(id, fields, times);
    this.rows.write(id, row, time);
    return row;
  }

  /** An instant that an author gave a record; only where records have one. */
  #given(value: unknown): number | undefined {
    if (!this.#timed || typeof value !== 'string') return undefined;
    const ms = Date.parse(value);
    if (Number.isNaN(ms)) throw new RangeError(`${this.segment}: ${value} is no instant.`);
    return ms;
  }
}
