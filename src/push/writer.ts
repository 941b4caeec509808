// Writes what was planned: creates that can be repeated, minimal updates, and what is to be done about missing products.

import { type AnyAccountingError, isAccountingError } from '../errors/guards.ts';
import { UnexpectedResponseError } from '../errors/unexpected-response-error.ts';
import type { ResponseTime } from '../pagination/page.ts';
import { newIdempotencyKey } from '../transport/idempotency-key.ts';
import { type Calls, LostCreate } from './calls.ts';
import { changedFields, type Fields, picked, withoutNull } from './draft.ts';
import { idempotencyKeyOf, isDeterministic } from './idempotency.ts';
import type { Attempt, PushMemory } from './memory.ts';
import type { AnyProduct, ResolvedPushOptions } from './options.ts';
import type { Missing, Plan } from './plan.ts';
import type { PushResult, Results } from './results.ts';
import type { Row, Rows } from './rows.ts';

/** What the writer works with. */
export interface Writing {
  readonly options: ResolvedPushOptions;
  readonly calls: Calls;
  readonly results: Results;
  readonly memory: PushMemory | undefined;
  readonly rows: Rows;
  /** The first response of the read. */
  readonly first: ResponseTime | undefined;
  /** Whether another push of the tenant ended so shortly before that its products have the same second in `createdAt`. */
  readonly followsClosely: boolean;
}

/** Creates that are stored at a time, before the first of them is sent. */
const CHUNK = 100;

/** A row has a generation for each product of its draft that was deleted. More than this is a broken service. */
const MAX_GENERATIONS = 100;

/** When a product was created: in this run, before it, or in the second in which both is possible. */
type Age = 'new' | 'old' | 'unsure';

export class Writer {
  /** The rows whose create may have been carried out, with `retry.creates: false`, and why that is unknown. */
  readonly lost = new Map<Row, AnyAccountingError>();
  /** The id of a product that this run wrote. */
  writtenId: string | undefined;
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

  async create(rows: readonly Row[]): Promise<void> {
    const { memory, options } = this.#writing;
    for (let from = 0; from < rows.length; from += CHUNK) {
      const chunk = await Promise.all(
        rows.slice(from, from + CHUNK).map(async (row) => {
          const unknown = options.settings.retry.creates ? memory?.pending(row.key) : undefined;
          return {
            row,
            attempt: unknown ?? (await this.#attempt(row, 0)),
            isRepeated: unknown !== undefined,
          };
        }),
      );
      await memory?.willCreate(chunk.map(({ row, attempt }) => [row.key, attempt] as const));
      await forEach(chunk, options.concurrency, ({ row, attempt, isRepeated }) =>
        this.#row(row, () => this.#create(row, attempt, isRepeated ? -1 : 0), isRepeated),
      );
    }
  }

  /** Reports the product that a lost create made. */
  async foundLost(row: Row, product: AnyProduct): Promise<void> {
    await this.#row(row, () => this.#finishCreate(row, product, { action: 'created', sent: [] }));
  }

  /** Reports that a row has several products, after its create was lost. */
  lostInConflict(row: Row, ids: readonly string[]): void {
    this.#report(row, { action: 'conflict', id: ids[0], ids });
  }

  /** Reports rows whose create is not sent again. */
  failLost(rows: Iterable<Row> = this.lost.keys()): void {
    for (const row of rows) this.#report(row, { action: 'failed', error: this.lost.get(row) });
  }

  /** Does the work of a row. An error fails the row, and stops the run only if no other row can succeed. */
  async #row(row: Row, work: () => Promise<void>, isRepeated = false): Promise<void> {
    const { calls, memory } = this.#writing;
    try {
      await work();
    } catch (error) {
      const stops = calls.stopsRun(error);
      if (isAccountingError(error) && !isOwnError(error)) {
        const isNotCreated = error.outcome === 'rejected' || error.outcome === 'not_sent';
        // Of an earlier create with the same key, such an error says nothing.
        if (!stops && !isRepeated && isNotCreated) memory?.settled(row.key);
        this.#report(row, {
          action: 'failed',
          id: row.id,
          error,
        });
      }
      if (stops) throw error;
    }
  }

  /** Creates the product of a row. `generation` is -1 for the create that an earlier run left unknown. */
  async #create(row: Row, first: Attempt, firstGeneration: number): Promise<void> {
    let attempt = first;
    for (let generation = firstGeneration; generation < MAX_GENERATIONS; ) {
      // An unknown create is finished even if its draft is out of date: it must not become a second product.
      const isOutdated = attempt.draft !== row.draft;
      const created = await this.#send(row, attempt).catch((error: unknown) => {
        if (isOutdated && provesNoProduct(error)) return undefined;
        throw error;
      });
      if (created instanceof LostCreate) {
        this.lost.set(row, created.error);
        return;
      }
      if (created !== undefined) {
        row.id = created.id;
        const age = this.#ageOf(created);
        if (age === 'new' && !isOutdated) return this.#finish(row, created.id, { action: 'created' });
        const known = age === 'new' ? { product: created, sent: [] } : await this.#existing(row, created);
        if (known !== undefined && !this.#isOfAnotherRow(row, known.product)) {
          const action = age === 'old' ? 'unchanged' : 'created';
          return this.#finishCreate(row, known.product, { action, sent: known.sent });
        }
      }
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

  async #attempt({ key, draft }: Row, generation: number): Promise<Attempt> {
    const { tenant } = this.#writing.options;
    const create = { tenant, key, generation, draft: JSON.parse(draft) as Fields };
    return { idempotencyKey: await idempotencyKeyOf(create), draft };
  }

  /** A 422 under a key that another run may have used can be a stored rejection: once more under a random key. */
  async #send(row: Row, { idempotencyKey, draft }: Attempt): Promise<AnyProduct | LostCreate> {
    const { calls, memory, options } = this.#writing;
    const body = withoutNull(JSON.parse(draft) as Fields);
    try {
      return await calls.create(body, idempotencyKey);
    } catch (error) {
      const isRejected = isAccountingError(error, 'validation_failed') && error.outcome === 'rejected';
      if (!isRejected || !isDeterministic(idempotencyKey) || !options.settings.retry.creates) throw error;

      const again = newIdempotencyKey();
      await memory?.willCreate([[row.key, { idempotencyKey: again, draft }]]);
      return await calls.create(body, again);
    }
  }

  /** Whether the service returned the product of an earlier create with the same key, by its own clock. */
  #ageOf(product: AnyProduct): Age {
    const { first, followsClosely, options } = this.#writing;
    // Such a service stores no responses.
    if (!options.settings.retry.creates) return 'new';
    const createdAt = timestampMs(product.createdAt);
    if (createdAt === undefined || first?.serverTime === undefined) return 'unsure';
    const startedAt = first.serverTime.getTime();
    if (createdAt < startedAt) return 'old';
    return followsClosely && createdAt < startedAt + 1000 ? 'unsure' : 'new';
  }

  /** The product of an earlier create as it is now, and what was sent to it; undefined if it was deleted. */
  async #existing(
    { draft }: Row,
    { id }: AnyProduct,
  ): Promise<{ product: AnyProduct; sent: readonly string[] } | undefined> {
    const { calls } = this.#writing;
    const product = await calls.find(id);
    if (product !== undefined) return { product, sent: [] };
    // A read may come from a copy of the data that lags behind. A write does not, so that its 404 is final.
    const patch = withoutNull(JSON.parse(draft) as Fields);
    try {
      return { product: await calls.update(id, patch), sent: Object.keys(patch) };
    } catch (error) {
      if (isAccountingError(error, 'not_found') && error.missing) return undefined;
      throw error;
    }
  }

  /** Whether a product got the key of another row since it was created for this one. */
  #isOfAnotherRow(row: Row, product: AnyProduct): boolean {
    const { options, rows } = this.#writing;
    const other = rows.byKey.get(options.key(product) ?? '');
    if (other === undefined || other === row) return false;
    return other.id === product.id || other.otherIds.includes(product.id);
  }

  /** Brings the product of a create to the values of its row. */
  async #finishCreate(
    row: Row,
    product: AnyProduct,
    { action, sent }: { action: 'created' | 'unchanged'; sent: readonly string[] },
  ): Promise<void> {
    const { calls, options } = this.#writing;
    const { id } = product;
    const draft = JSON.parse(row.draft) as Fields;
    const fields = changedFields(product, draft, options.facts.fields);
    if (fields.length > 0) await calls.update(id, picked(draft, fields));
    const all = [...new Set([...sent, ...fields])];
    this.#finish(row, id, {
      action: action === 'unchanged' && all.length > 0 ? 'updated' : action,
      fields: all,
    });
  }

  async #update(row: Row): Promise<void> {
    const { fields } = row;
    const id = row.id as string;
    await this.#writing.calls.update(id, picked(JSON.parse(row.draft) as Fields, fields));
    this.#finish(row, id, { action: 'updated', fields });
  }

  #finish(row: Row, id: string, result: Pick<PushResult, 'action'> & Partial<PushResult>): void {
    const { memory } = this.#writing;
    memory?.settled(row.key);
    memory?.found(row.key, id, row.storedId);
    if (result.action !== 'unchanged') this.writtenId = id;
    this.#report(row, { id, ...result });
  }

  #report(row: Row, result: Pick<PushResult, 'action'> & Partial<PushResult>): void {
    this.lost.delete(row);
    this.#writing.results.add({ key: row.key, row: row.index, ...result });
  }

  async #missing({ id, key, patch }: Missing): Promise<void> {
    const { calls, results } = this.#writing;
    const result = { key, row: undefined, id };
    try {
      if (patch === undefined) {
        if (!(await this.#isStillMissing(id))) return;
        await calls.delete(id);
        results.add({ ...result, action: 'deleted' });
      } else {
        await calls.update(id, patch);
        results.add({ ...result, action: 'updated', fields: Object.keys(patch) });
      }
    } catch (error) {
      // Another writer deleted it.
      if (isAccountingError(error, 'not_found') && error.missing) return;
      const stops = calls.stopsRun(error);
      if (isAccountingError(error)) results.add({ ...result, action: 'failed', error });
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

/** A timestamp with its offset, in ms; undefined for anything else, which could be of any time zone. */
function timestampMs(value: unknown): number | undefined {
  if (typeof value !== 'string' || !/T.*(?:Z|[+-]\d\d:?\d\d)$/.test(value)) return undefined;
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Runs the work for each item, with limited concurrency. After a failure no further one begins; rejects once all have ended. */
async function forEach<V>(
  items: readonly V[],
  concurrency: number,
  work: (item: V) => Promise<void>,
): Promise<void> {
  const left = items.values();
  let failed = false;
  const worker = async () => {
    for (let next = left.next(); next.done !== true && !failed; next = left.next()) {
      await work(next.value).catch((error: unknown) => {
        failed = true;
        throw error;
      });
    }
  };
  const workers = Array.from({ length: Math.min(concurrency, items.length) }, worker);
  const failure = (await Promise.allSettled(workers)).find((end) => end.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
}
