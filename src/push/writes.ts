// Sends what a round has planned, and reports the rows whose results the responses decide.

import { isAccountingError } from '../errors/guards.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { forEach } from '../internal/for-each.ts';
import { visible } from '../internal/text.ts';
import type { RecordRow } from '../reading/source.ts';
import type { PushDifference } from '../reports/push-report.ts';
import type { Calls } from './calls.ts';
import {
  afterCreate,
  afterUpdate,
  type CreateEnd,
  endOfCreate,
  endOfUpdate,
  isOdd,
  type MadeProduct,
  type ProductFacts,
  type SentCreate,
  toSend,
  type UpdateEnd,
  unsent,
} from './create.ts';
import { type JsonFields, notStored, picked, withoutNull } from './draft.ts';
import { type Kind, SAMPLE, sampleFirst } from './kinds.ts';
import { factsOf, naturalKey } from './match.ts';
import type { PushMemory } from './memory.ts';
import type { AnyProduct, ResolvedPushOptions } from './options.ts';
import { doneOf, type Plan, type Update, unreachable } from './plan.ts';
import type { Outcome, Results } from './results.ts';
import type { PushRow } from './rows.ts';

/** Creates that are stored at a time, before the first of them is sent. */
const CHUNK = 100;
/** After so many creates whose product has another key, no more are sent. */
const MAX_CHANGED = 3;

const ODD =
  'look at this row: the service fails at it, and may have applied it anyway; the next push looks at its product';
const DENIED = 'not sent, because the service denied every write of this kind before';

interface WritesParts {
  readonly options: ResolvedPushOptions;
  readonly results: Results;
  readonly memory: PushMemory;
  readonly calls: Calls;
}

/** What the writes of a round have left. */
interface Left {
  /** Rows that wait for the next round. */
  readonly open: PushRow[];
  /** Rows whose product is requested at once, because the response did not show it. */
  readonly look: PushRow[];
}

export class Writes {
  readonly #parts: WritesParts;
  #left: Left = { open: [], look: [] };
  /** Creates whose product has another key, and the last of them. */
  #changed = { count: 0, last: '' };
  /** The rows of the products that this push has created, by id. */
  readonly #createdFor = new Map<string, PushRow>();

  constructor(parts: WritesParts) {
    this.#parts = parts;
  }

  /** Sends creates, then updates: of each kind a sample first. */
  async send({ creates, updates }: Pick<Plan, 'creates' | 'updates'>): Promise<Left> {
    const { calls, memory } = this.#parts;
    this.#left = { open: [], look: [] };
    const sorted = sampleFirst(creates, SAMPLE);
    for (let from = 0; from < sorted.length; from += CHUNK)
      await this.#sendChunk(sorted.slice(from, from + CHUNK));
    if (updates.length > 0) await memory.begin();
    await this.#forEach(sampleFirst(updates, SAMPLE), (update) => this.#update(update));
    calls.throwIfStopped();
    return this.#left;
  }

  async #sendChunk(chunk: readonly PushRow[]): Promise<void> {
    const { memory, options } = this.#parts;
    const rows = chunk.filter((row) => !this.#isRejected('create', row));
    if (rows.length === 0) return;
    const { creates: mayRepeat } = options.settings.retry;
    for (const row of rows) memory.set(row, toSend(memory.stateOf(row), { draft: row.draft, mayRepeat }));
    const waiting = new Set(rows);
    try {
      await memory.begin();
      await this.#forEach(rows, async (row) => {
        if (this.#isRejected('create', row)) return;
        waiting.delete(row);
        await this.#create(row);
      });
    } finally {
      // The next push need not look for the product of a create that was not sent.
      for (const row of waiting) memory.set(row, unsent(memory.stateOf(row) as SentCreate));
    }
  }

  async #create(row: PushRow): Promise<void> {
    const { calls, memory, results } = this.#parts;
    const state = memory.stateOf(row) as SentCreate;
    const draft = withoutNull(JSON.parse(state.draft) as JsonFields);
    const odd = isOdd(state, calls.hasSucceeded('create'));
    let created: RecordRow<AnyProduct> | undefined;
    let thrown: unknown;
    try {
      created = await calls.create(draft, state.idempotencyKey, odd);
    } catch (error) {
      if (isAccountingError(error)) results.errors.set(row, error);
      thrown = error;
    }
    const end: CreateEnd =
      created === undefined
        ? endOfCreate(thrown, { wasUp: calls.wasUpAfter(thrown), isOdd: odd })
        : { end: 'created', product: this.#factsOf(created) };
    const { state: next, step } = afterCreate(state, end, row.folded);
    memory.set(row, next);
    if (next.is === 'made') this.#createdFor.set(next.id, row);
    if (created === undefined && calls.stopsPush(thrown)) throw thrown;
    const id = next.is === 'made' ? next.id : undefined;
    const error = results.errors.get(row);
    if (created !== undefined) memory.see(created.record.id, created.row);
    switch (step) {
      case 'created':
        return this.#report(row, {
          action: 'created',
          id,
          notStored: this.#notStored(row, created, draft),
        });
      case 'conflict':
        return this.#report(row, this.#changedKey(row, created as RecordRow<AnyProduct>));
      case 'failed':
        return this.#report(row, { action: 'failed', error });
      case 'odd':
        return this.#report(row, { action: 'failed', error, reason: ODD });
      default:
        this.#left[step].push(row);
    }
  }

  /** Sends the fields in which the product of a row differs. */
  async #update({ row, product }: Update): Promise<void> {
    const { calls, memory, results } = this.#parts;
    if (this.#isRejected('update', row)) return;
    const state = memory.stateOf(row) as MadeProduct;
    // The product that was to be updated is gone, and its id was used again: the next round looks.
    if ((this.#createdFor.get(state.id) ?? row) !== row) {
      this.#left.open.push(row);
      return;
    }
    const { fields } = product;
    const patch = picked(JSON.parse(row.draft) as JsonFields, fields);
    const odd = isOdd(state, calls.hasSucceeded('update'));
    let updated: RecordRow<AnyProduct> | undefined;
    let thrown: unknown;
    try {
      updated = await calls.update(state.id, patch, odd);
    } catch (error) {
      if (isAccountingError(error)) results.errors.set(row, error);
      if (calls.stopsPush(error)) throw error;
      thrown = error;
    }
    const end: UpdateEnd =
      updated === undefined
        ? endOfUpdate(thrown, { wasUp: calls.wasUpAfter(thrown), isOdd: odd })
        : { end: 'updated', product: this.#factsOf(updated) };
    const { state: next, step } = afterUpdate(state, end, { rowKey: row.folded, fields });
    memory.set(row, next);
    const { id } = next;
    const error = results.errors.get(row);
    switch (step) {
      case 'updated':
        return this.#report(row, { ...doneOf(next), notStored: this.#notStored(row, updated, patch) });
      case 'conflict': {
        const reason = `the service returned another product under the id ${id}, and may have changed it`;
        return this.#report(row, { action: 'conflict', id, ids: [id], reason });
      }
      case 'unreachable':
        return this.#report(row, unreachable(next, error));
      case 'failed':
        return this.#report(row, { action: 'failed', id, error });
      case 'odd':
        return this.#report(row, { action: 'failed', id, error, reason: ODD });
      default:
        this.#left[step].push(row);
    }
  }

  #notStored(row: PushRow, returned: RecordRow<AnyProduct> | undefined, sent: JsonFields): PushDifference[] {
    if (returned === undefined) return [];
    const { source, keyField } = this.#parts.options;
    return notStored(returned.row as JsonFields, sent, {
      kinds: source.fields,
      rowKey: row.folded,
      keyField,
    });
  }

  #factsOf(product: RecordRow<AnyProduct>): ProductFacts {
    return factsOf(product, naturalKey(this.#parts.options, product));
  }

  /** The result of a row whose product has another key than was sent. */
  #changedKey(row: PushRow, created: RecordRow<AnyProduct>): Outcome {
    const { id } = created.record;
    const key = naturalKey(this.#parts.options, created);
    const last = `${visible(row.key)} became ${visible(key)}`;
    this.#changed = { count: this.#changed.count + 1, last };
    const reason = `the service stored another key: ${last}. Return the key in the form of the service`;
    return { action: 'conflict', id, ids: [id], reason };
  }

  /** Whether a write is left unsent, because of what every one of its kind met. Then its row has failed. */
  #isRejected(kind: Kind, row: PushRow): boolean {
    const { calls, memory } = this.#parts;
    const state = memory.stateOf(row);
    const id = state.is === 'made' ? state.id : undefined;
    const rejection = calls.rejection(kind);
    // What stopped the writes of a kind ends the push, and their rows have no result.
    if (rejection?.isStop) return true;
    if (rejection !== undefined) {
      this.#report(row, { action: 'failed', id, error: rejection.error, reason: DENIED });
      return true;
    }
    const { count, last } = this.#changed;
    if (kind === 'update' || count < MAX_CHANGED) return false;
    const what = `must return the key in the form of the service, which changed ${count} of them (${last}). No more products are created`;
    this.#report(row, { action: 'failed', error: new InvalidInputError('key', what) });
    return true;
  }

  #report(row: PushRow, outcome: Outcome): void {
    this.#parts.results.add(row, outcome);
  }

  async #forEach<V>(items: readonly V[], work: (item: V) => Promise<void>): Promise<void> {
    await forEach(items, this.#parts.options.concurrency, work);
  }
}
