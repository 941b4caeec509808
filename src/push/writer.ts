// Writes what was planned: creates that can be repeated, minimal updates, and what is to be done about missing products.

import { type AnyAccountingError, isAccountingError, isApiError } from '../errors/guards.ts';
import type { NotFoundError } from '../errors/not-found-error.ts';
import { UnexpectedResponseError } from '../errors/unexpected-response-error.ts';
import { forEach } from '../internal/for-each.ts';
import { sentOf } from '../schemas/as-sent.ts';
import { newIdempotencyKey } from '../transport/idempotency-key.ts';
import { type Attempt, attemptOf, isDeterministic } from './attempt.ts';
import { type Calls, type Created, LostCreate } from './calls.ts';
import { CreatedAt } from './created-at.ts';
import { changedFields, type Fields, picked, withoutNull } from './draft.ts';
import { Markers } from './markers.ts';
import type { PushMemory } from './memory.ts';
import type { Missing } from './missing.ts';
import { ChangedKeys, spellings } from './natural-key.ts';
import type { AnyProduct, ResolvedPushOptions } from './options.ts';
import type { Plan } from './plan.ts';
import type { Outcome, Results } from './results.ts';
import type { PushRow, Rows } from './rows.ts';
import type { PushRun } from './runs.ts';

/** What the writer works with. */
export interface Writing {
  readonly options: ResolvedPushOptions;
  readonly calls: Calls;
  readonly results: Results;
  readonly memory: PushMemory | undefined;
  readonly rows: Rows;
  readonly begun: PushRun;
}

/** Creates that are stored at a time, before the first of them is sent. */
const CHUNK = 100;

/** A row has a generation for each product of its draft that was deleted. More than this is a broken service. */
const MAX_GENERATIONS = 100;

/** So many repeats under another key brought the same 422: the service does not store rejections. */
const MAX_VAIN_REPEATS = 3;

/** The way out of a 409 that may be about a request of this run. */
const IN_PROGRESS =
  'The service says that a create of this row is still running. Run the push again: if the service still says so, and no product appears within timeoutMs, the product is created under another idempotency key.';

const REKEYED =
  'the service says that an earlier create of this row is still running, but no product appeared within timeoutMs: it was sent under another idempotency key';

/** A copy of the data or a gateway can be wrong about it, so that only a new read decides. */
const DELETED =
  'the product was deleted after the push had read it: the next push that reads no product with this key creates it';

/** A product that exists, and the fields that were sent to find that out. */
interface Known {
  readonly product: AnyProduct;
  readonly sent: readonly string[];
}

export class Writer {
  /** The rows whose create may have been carried out, with `retry.creates: false`, and why that is unknown. */
  readonly lost = new Map<PushRow, AnyAccountingError>();
  readonly markers = new Markers();
  /** The rows that were sent under another key than a run before would have used, because of a marker. */
  readonly #rekeyed = new Set<PushRow>();
  /** The id of a product that this run wrote. */
  writtenId: string | undefined;
  readonly #createdAt = new CreatedAt();
  readonly #changedKeys = new ChangedKeys();
  #vainRepeats = 0;
  readonly #writing: Writing;

  constructor(writing: Writing) {
    this.#writing = writing;
  }

  async write({ creates, updates, missing }: Plan): Promise<void> {
    const { concurrency } = this.#writing.options;
    await this.create(creates);
    await forEach(updates, concurrency, (row) => this.#row(row, () => this.#update(row)));
    await forEach(missing, concurrency, (product) => this.#missing(product));
  }

  async create(rows: readonly PushRow[]): Promise<void> {
    const { memory, options } = this.#writing;
    for (let from = 0; from < rows.length; from += CHUNK) {
      const chunk = await Promise.all(
        rows.slice(from, from + CHUNK).map(async (row) => {
          const pending = options.settings.retry.creates ? memory?.pending(row.key) : undefined;
          const isRepeated = pending !== undefined && !this.#isAbandoned(row, pending);
          return { row, attempt: isRepeated ? pending : await this.#attempt(row, 0), isRepeated };
        }),
      );
      await memory?.willCreate(chunk.map(({ row, attempt }) => [row.key, attempt] as const));
      await forEach(chunk, options.concurrency, ({ row, attempt, isRepeated }) =>
        this.#row(row, () => this.#create(row, attempt, isRepeated ? -1 : 0), isRepeated),
      );
    }
  }

  /** Reports the product that a lost create made. */
  async foundLost(row: PushRow, product: AnyProduct): Promise<void> {
    await this.#row(row, () => this.#finishCreate(row, product, { action: 'created', sent: [] }));
  }

  /** Reports that a row has several products, after its create was lost. */
  lostInConflict(row: PushRow, ids: readonly string[], reason: string): void {
    this.#report(row, { action: 'conflict', id: ids[0], ids, reason });
  }

  /** Reports rows whose create is not sent again. */
  failLost(rows: Iterable<PushRow> = this.lost.keys()): void {
    for (const row of rows) {
      const error = this.lost.get(row);
      if (error === undefined) continue;
      const reason = isApiError(error) && error.status === 409 ? IN_PROGRESS : undefined;
      this.#report(row, { action: 'failed', error, reason });
    }
  }

  /** Does the work of a row. An error fails the row, and stops the run only if no other row can succeed. */
  async #row(row: PushRow, work: () => Promise<void>, isRepeated = false): Promise<void> {
    const { calls, memory } = this.#writing;
    try {
      await work();
    } catch (error) {
      const stops = await calls.stopsRun(error);
      if (isAccountingError(error) && !isOwnError(error)) {
        const isNotCreated = error.outcome === 'rejected' || error.outcome === 'not_sent';
        // Of an earlier create with the same key, such an error says nothing.
        if (!isRepeated && isNotCreated) memory?.settled(row.key);
        this.#report(row, { action: 'failed', id: row.id, error });
      }
      if (stops) throw error;
    }
  }

  /** Creates the product of a row. The first generation is -1 for a create that was left unknown. */
  async #create(row: PushRow, first: Attempt, firstGeneration: number): Promise<void> {
    const other = this.#changedKeys.check(row.key);
    if (other !== undefined) {
      const reason = `an earlier row may mean the same product: ${spellings(row.key, other)}`;
      return this.#report(row, { action: 'conflict', id: undefined, ids: [], reason });
    }
    if (row.storedId !== undefined) {
      // Neither the list nor a GET showed it, but reads may lag behind.
      const known = await this.#written(row, row.storedId);
      if (known !== undefined)
        return this.#finishCreate(row, known.product, { ...known, action: 'unchanged' });
    }
    let attempt = first;
    for (let generation = firstGeneration; generation < MAX_GENERATIONS; ) {
      if (await this.#isSettledBy(attempt, row)) return;
      generation += 1;
      attempt = await this.#attempt(row, generation);
      await this.#writing.memory?.willCreate([[row.key, attempt]]);
    }
    throw new UnexpectedResponseError(
      'The service returned products for this row that cannot be found. Nothing more was sent.',
      { method: 'POST', path: '/products', outcome: 'unknown' },
      { status: 200, reason: 'wrong_shape' },
    );
  }

  /** Sends a create. False if it proves that the row has no product: it was deleted, or belongs to another row. */
  async #isSettledBy(attempt: Attempt, row: PushRow): Promise<boolean> {
    // An unknown create is finished even if its draft is out of date: it must not become a second product.
    const isOutdated = attempt.draft !== row.draft;
    const created = await this.#send(row, attempt).catch((error: unknown) => {
      if (isOutdated && provesNoProduct(error)) return undefined;
      throw error;
    });
    if (created === undefined) return false;
    if (created instanceof LostCreate) {
      this.lost.set(row, created.error);
      this.markers.add(created.error);
      return true;
    }
    const { product } = created;
    row.id = product.id;
    const isNew = this.#isNew(created);
    const known: Known | undefined = isNew ? { product, sent: [] } : await this.#existing(row, product);
    // Not before it is known that the product was not deleted since.
    if (known === undefined) return false;
    if (this.#hasChangedKey(row, product)) return true;
    if (isNew && !isOutdated) {
      this.#finish(row, { action: 'created', id: product.id });
      return true;
    }
    if (this.#isOfAnotherRow(row, known.product)) return false;
    const action = !isNew && this.#createdAt.isOld(created) ? 'unchanged' : 'created';
    await this.#finishCreate(row, known.product, { action, sent: known.sent });
    return true;
  }

  async #attempt(row: PushRow, generation: number): Promise<Attempt> {
    const attempt = await attemptOf(this.#writing.options.tenant, row, generation);
    return this.#isAbandoned(row, attempt) ? this.#attempt(row, generation + 1) : attempt;
  }

  #isAbandoned(row: PushRow, { idempotencyKey }: Attempt): boolean {
    const isAbandoned = this.markers.isAbandoned(idempotencyKey);
    if (isAbandoned) this.#rekeyed.add(row);
    return isAbandoned;
  }

  /** A 422 under a key that another run may have used can be a stored rejection: once more under a random key. */
  async #send(row: PushRow, { idempotencyKey, draft }: Attempt): Promise<Created | LostCreate> {
    const { calls, memory, options } = this.#writing;
    const body = withoutNull(JSON.parse(draft) as Fields);
    try {
      return await calls.create(body, idempotencyKey);
    } catch (error) {
      const isRejected = isAccountingError(error, 'validation_failed') && error.outcome === 'rejected';
      if (!isRejected || !isDeterministic(idempotencyKey) || !options.settings.retry.creates) throw error;
      if (this.#vainRepeats >= MAX_VAIN_REPEATS) throw error;

      const again = newIdempotencyKey();
      await memory?.willCreate([[row.key, { idempotencyKey: again, draft }]]);
      return await calls.create(body, again).catch((second: unknown) => {
        if (isAccountingError(second, 'validation_failed') && isSameRejection(second, error))
          this.#vainRepeats += 1;
        throw second;
      });
    }
  }

  /** Reports a conflict if the service stored another key than was sent. */
  #hasChangedKey(row: PushRow, product: AnyProduct): boolean {
    const { memory, options } = this.#writing;
    const changed = this.#changedKeys.add(row.key, options.key(product) ?? '');
    if (changed === undefined) return false;
    memory?.settled(row.key);
    memory?.found(row.key, product.id, row.storedId);
    const reason = `the service stored another key: ${changed}. Normalise the keys in key`;
    this.writtenId = product.id;
    this.#report(row, { action: 'conflict', id: product.id, ids: [product.id], reason });
    return true;
  }

  /** Whether a product was created just now, and not by an earlier create with the same key. */
  #isNew(created: Created): boolean {
    const { begun, options } = this.#writing;
    // Such a service stores no responses.
    if (!options.settings.retry.creates) return true;
    return !begun.isClose() && this.#createdAt.isNew(created);
  }

  /** The product of an earlier create as it is now, and what was sent to it; undefined if it was deleted. */
  async #existing(row: PushRow, { id }: AnyProduct): Promise<Known | undefined> {
    const product = await this.#writing.calls.find(id);
    return product === undefined ? await this.#written(row, id) : { product, sent: [] };
  }

  /**
   * The product of a row after an update; undefined if it was deleted. A read may come from a copy of the data that lags
   * behind. A write does not, so that its 404 is final.
   */
  async #written({ draft }: PushRow, id: string): Promise<Known | undefined> {
    const patch = withoutNull(JSON.parse(draft) as Fields);
    try {
      return { product: await this.#writing.calls.update(id, patch), sent: Object.keys(patch) };
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
  }

  /** Whether a product got the key of another row since it was created for this one. */
  #isOfAnotherRow(row: PushRow, product: AnyProduct): boolean {
    const { options, rows } = this.#writing;
    const other = rows.byKey.get(options.key(product) ?? '');
    if (other === undefined || other === row) return false;
    return other.id === product.id || other.otherIds.includes(product.id);
  }

  /** Brings the product of a create to the values of its row. */
  async #finishCreate(
    row: PushRow,
    product: AnyProduct,
    { action, sent }: { readonly action: 'created' | 'unchanged'; readonly sent: readonly string[] },
  ): Promise<void> {
    const { calls, options } = this.#writing;
    const { id } = product;
    const draft = JSON.parse(row.draft) as Fields;
    const fields = changedFields(sentOf(product), draft, options.facts.fields);
    if (fields.length > 0) await calls.update(id, picked(draft, fields));
    const all = [...new Set([...sent, ...fields])];
    if (action === 'created') this.#finish(row, { action, id, fields: all });
    else if (all.length > 0) this.#finish(row, { action: 'updated', id, fields: all });
    else this.#finish(row, { action, id });
  }

  async #update(row: PushRow): Promise<void> {
    const { fields } = row;
    const id = row.id as string;
    try {
      await this.#writing.calls.update(id, picked(JSON.parse(row.draft) as Fields, fields));
    } catch (error) {
      if (!isGone(error)) throw error;
      this.#report(row, { action: 'failed', id, error, reason: DELETED });
      return;
    }
    this.#finish(row, { action: 'updated', id, fields });
  }

  #finish(row: PushRow, outcome: Exclude<Outcome, { action: 'conflict' }> & { readonly id: string }): void {
    const { memory } = this.#writing;
    memory?.settled(row.key);
    memory?.found(row.key, outcome.id, row.storedId);
    if (outcome.action !== 'unchanged') this.writtenId = outcome.id;
    this.#report(row, this.#rekeyed.has(row) ? { ...outcome, reason: REKEYED } : outcome);
  }

  #report(row: PushRow, outcome: Outcome): void {
    this.lost.delete(row);
    this.#writing.results.add(row, outcome);
  }

  async #missing({ id, key, patch }: Missing): Promise<void> {
    const { calls, results } = this.#writing;
    try {
      if (patch === undefined) {
        if (!(await this.#isStillMissing(id))) return;
        await calls.delete(id);
        results.add({ key }, { action: 'deleted', id });
      } else {
        await calls.update(id, patch);
        results.add({ key }, { action: 'updated', id, fields: Object.keys(patch) });
      }
    } catch (error) {
      // Another writer deleted it.
      if (isGone(error)) return;
      const stops = await calls.stopsRun(error);
      if (isAccountingError(error)) results.add({ key }, { action: 'failed', id, error });
      if (stops) throw error;
    }
  }

  /** A product that got the key of a row meanwhile is not deleted. */
  async #isStillMissing(id: string): Promise<boolean> {
    const { calls, options, rows } = this.#writing;
    const product = await calls.find(id);
    return product !== undefined && !rows.byKey.has(options.key(product) ?? '');
  }
}

/** Whether a write proves that its product does not exist. */
function isGone(error: unknown): error is NotFoundError {
  return isAccountingError(error, 'not_found') && error.missing;
}

/** Errors of the store and of a second run say nothing about the row. */
function isOwnError({ code }: AnyAccountingError): boolean {
  return code === 'checkpoint' || code === 'concurrent_run';
}

/**
 * Whether the service did not carry out an earlier create with the same key and draft: it would have returned the
 * product. A 401, 409 or 429 comes before it looks.
 */
function provesNoProduct(error: unknown): boolean {
  const isInvalid =
    isAccountingError(error, 'validation_failed') || isAccountingError(error, 'malformed_request');
  return isInvalid && error.outcome === 'rejected';
}

/** Whether a 422 under another idempotency key says what the first one said. */
function isSameRejection(second: AnyAccountingError, first: AnyAccountingError): boolean {
  const content = (error: AnyAccountingError) =>
    isAccountingError(error, 'validation_failed') && JSON.stringify([error.detail, error.violations]);
  return content(second) === content(first);
}
