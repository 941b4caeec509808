import { ConcurrentRunError } from '../errors/concurrent-run-error.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { type CopyRow, copyRows, storedId } from '../internal/copy-rows.ts';
import { exactJson } from '../internal/json-text.ts';
import { randomUuid } from '../internal/random-uuid.ts';
import { causeText } from '../internal/text.ts';
import type { Batch } from '../sync/batch.ts';
import type { CollectionEnd, OpenTarget, StoredRow, TargetContext, Written } from '../sync/target.ts';
import type { Engine, Row } from './engine.ts';
import { failed, failureKind, isNoTable, notOpened, outlasting, reasonOf } from './failures.ts';
import { COPY, LAST_RUN, type Turn } from './sql.ts';
import { Views } from './views.ts';

const NO_COPY = 'has no copy yet: the first sync into it creates the tables';

/** The copy of one tenant, in whatever database it is. */
export class Copy implements OpenTarget {
  readonly #engine: Engine;
  readonly #tenant: string;
  readonly #context: TargetContext;
  readonly #views: Views;
  /** Where the company is identified. */
  readonly #companyKey: string;
  /** Which copy of the tenant this is; empty if there is none, or if it was forgotten while this run opened it. */
  #copy = '';
  /** The checkpoints of the tenant, as this run has read or written them. */
  #checkpoints = new Map<string, string>();
  readonly #run = randomUuid();
  #batches = 0;
  /** Which run had written last when this one opened the copy. */
  #lastRun = '';
  /** What identifies the company, if it has to be written. */
  #company: string | undefined;

  private constructor(engine: Engine, tenant: string, context: TargetContext) {
    this.#engine = engine;
    this.#tenant = tenant;
    this.#context = context;
    this.#views = new Views(engine, context);
    // Two parts: the key of a state has three.
    this.#companyKey = `company:${tenant}`;
  }

  /** Opens the copy, and creates its tables if they do not exist. */
  static async open(engine: Engine, tenant: string, context: TargetContext): Promise<Copy> {
    const copy = new Copy(engine, tenant, context);
    try {
      await outlasting(() => copy.#setUp(), context);
      return copy;
    } catch (error) {
      engine.close();
      const { signal } = context;
      if (signal?.aborted && error === signal.reason) throw error;
      // Without the table of the records, which is read first, there is none of the others.
      if (context.purpose !== 'sync' && isNoTable(error) && reasonOf(error).includes('record'))
        throw new InvalidInputError('target', NO_COPY, {}, { cause: error });
      throw notOpened(error, `the tables of ${engine.owner} cannot be used`);
    }
  }

  async #setUp(): Promise<void> {
    const { sql } = this.#engine;
    const isSync = this.#context.purpose === 'sync';
    try {
      await this.#engine.query(sql.shape);
    } catch (error) {
      if (!isSync || failureKind(error) !== 'never') throw error;
      // Only now: a role that may only write rows must not create anything, not even IF NOT EXISTS.
      await this.#engine.script(sql.create);
      await this.#engine.query(sql.shape);
    }
    if (isSync) {
      await this.#views.setUp();
      await this.#engine.query(sql.beginCopy, [this.#tenant, randomUuid()]);
    }
    // Before the first request: of a tenant that is forgotten from now on this run writes nothing any more.
    await this.#readCheckpoints();
    // Its rows would have no line in the view of the status.
    if (this.#context.purpose === 'refresh' && this.#checkpoints.size === 0) {
      throw new InvalidInputError('tenant', `has no copy: nothing of ${this.#tenant} was synced`);
    }
  }

  readonly store = {
    get: (key: string): string | undefined => this.#checkpoints.get(key),
  };

  /** Identifies this company. */
  readonly company = {
    get: async () => this.#checkpoints.get(this.#companyKey),
    set: async (value: string) => {
      // With the next batch, so that it is never that of a run that writes no record.
      if (this.#context.purpose === 'sync') {
        this.#company = value;
        return;
      }
      const written = await this.#query(this.#engine.sql.setCompany, [
        ...this.#address,
        this.#companyKey,
        value,
      ]);
      if (written.length === 0) throw this.#taken('The API key was not remembered');
    },
  };

  /** Which records a full read has listed. */
  readonly marks = {
    count: async (collection: string, read: number) => {
      const [row] = await this.#query(this.#engine.sql.countMarks, [this.#tenant, collection, `${read}`]);
      const { records, marked } = row as { records: unknown; marked: unknown };
      return { records: Number(records), marked: Number(marked) };
    },
    unmarked: (collection: string, read: number, after?: string) =>
      this.#pages(this.#engine.sql.unmarkedIds, [this.#tenant, collection, `${read}`], after),
  };

  /** Writes records, marks and checkpoint together. */
  async onBatch(batch: Batch<{ id: string }>): Promise<Written> {
    const { collection, key, checkpoint, read } = batch;
    const records = copyRows(batch.records, batch.invalid);
    const rows = rowsOf(batch, records);
    const checkpoints: [key: string, value: string][] = [[key, checkpoint]];
    if (this.#company !== undefined) checkpoints.push([this.#companyKey, this.#company]);
    this.#batches += 1;
    const where = { tenant: this.#tenant, collection, copy: this.#copy, turn: this.#turn };
    const write = { ...where, rows, checkpoints, read };
    const written = await this.#repeat(async () => {
      await this.#show(collection, records);
      return await this.#engine.write(write);
    });
    if (written === undefined) throw this.#taken(`The batch of ${collection} was not written`);
    for (const [name, value] of checkpoints) this.#checkpoints.set(name, value);
    this.#company = undefined;
    if (written.replaced.length > 0) {
      const ids = written.replaced.map((id) => JSON.stringify(id)).join(', ');
      this.#context.warn(
        `Records of ${collection} have characters that PostgreSQL cannot store (U+0000, or half of a surrogate pair); the copy has U+FFFD in their place: ${ids}.`,
      );
    }
    const unchanged = rows.length - written.added - written.changed;
    const invalid = records.slice(0, batch.records.length).filter((row) => row.invalid).length;
    return { ...written, unchanged, invalid };
  }

  /** Removes records. Returns how many there were. */
  async onDelete(ids: readonly string[], collection: string): Promise<number> {
    const removed = await this.#query(this.#engine.sql.removeRecords, [
      this.#tenant,
      collection,
      JSON.stringify(ids),
      ...this.#place,
    ]);
    return removed.length;
  }

  localIds(collection: string): AsyncGenerator<string> {
    return this.#pages(this.#engine.sql.ids, [this.#tenant, collection]);
  }

  async rows(collection: string, ids: readonly string[]): Promise<readonly StoredRow[]> {
    const values = [this.#tenant, collection, JSON.stringify(ids.map(storedId))];
    const rows = await this.#query(this.#engine.sql.rows, values);
    return (rows as readonly { id: string; body: string; invalid: unknown; version: string }[]).map((row) => {
      return { ...row, body: JSON.parse(row.body) as unknown, invalid: Number(row.invalid) === 1 };
    });
  }

  /** Writes or removes one record, unless it was written since `version`. */
  async replace(
    collection: string,
    id: string,
    row: { readonly body: object; readonly invalid: boolean } | undefined,
    version = '',
  ): Promise<boolean> {
    const { sql } = this.#engine;
    const address = [this.#tenant, collection, id];
    if (row === undefined) {
      // First, so that no page that a sync requested earlier brings it back.
      await this.#query(sql.noteGone, [...address, this.#copy]);
      return (await this.#query(sql.removeRecord, [...address, this.#copy, version])).length > 0;
    }

    const content = [storedJson(collection, id, row.body), `${row.invalid}`, version, this.#copy];
    const written = await this.#repeat(async () => {
      await this.#show(collection, [row]);
      return await this.#engine.query(sql.replaceRecord, [...address, ...content]);
    });
    return written.length > 0;
  }

  /** Notes how far the copy of each collection is, or why its run failed. */
  async onEnd(ends: readonly CollectionEnd[]): Promise<void> {
    // What the key may not read by design has no status: a dashboard would warn of it for ever.
    const known = ends.filter(({ report, error }) => report.status !== 'forbidden' || error !== undefined);
    const statuses = known.map(({ report, endedAt, error }) => {
      const { collection, status, watermark, lastFullRead, complete, deletions } = report;
      const finishedAt = status === 'done' ? endedAt : undefined;
      // A run that did not reach the collection says nothing about it.
      const noError = status === 'not_begun' ? undefined : '';
      const lastError = error === undefined ? noError : causeText(error) || 'unknown';
      const times = [watermark, finishedAt, lastFullRead, deletions && finishedAt];
      return [collection, ...times, finishedAt && complete, lastError];
    });
    // Dates become text, and what is undefined null.
    await this.#query(this.#engine.sql.setStatus, [this.#tenant, JSON.stringify(statuses), ...this.#place]);
  }

  /** Removes everything of the tenant. Returns whether there was anything. */
  async forget(): Promise<boolean> {
    await this.#repeat(() => this.#engine.script(this.#engine.sql.forget(this.#tenant)));
    return this.#checkpoints.size > 0;
  }

  async close(): Promise<void> {
    try {
      const isUnused = this.#context.purpose === 'sync' && this.#checkpoints.size === 0;
      if (isUnused) await this.#engine.query(this.#engine.sql.endCopy, this.#address);
    } catch {
      // What is left is a row that the next run finds.
    } finally {
      this.#engine.close();
    }
  }

  get #address(): readonly [tenant: string, copy: string] {
    return [this.#tenant, this.#copy];
  }

  get #turn(): Turn {
    return { opened: this.#lastRun, run: `${this.#run} ${this.#batches}` };
  }

  /** What a sync may write to: see `isCopy` and `isOwnTurn` in `sql.ts`. */
  get #place(): readonly [copy: string, opened: string, run: string] {
    return [this.#copy, this.#turn.opened, this.#turn.run];
  }

  /** Gives a collection a view that shows the fields of these records. */
  async #show(collection: string, records: readonly { readonly body: object }[]): Promise<void> {
    await this.#views.show(
      collection,
      records.map(({ body }) => body),
    );
  }

  #taken(what: string): ConcurrentRunError {
    return new ConcurrentRunError(
      `${what}: another run of ${this.#tenant} wrote to the copy at the same time, or the tenant was forgotten.`,
      'running',
    );
  }

  async #readCheckpoints(): Promise<void> {
    const { sql } = this.#engine;
    const rows = await this.#engine.query(sql.checkpoints, [this.#tenant]);
    this.#checkpoints = new Map(
      (rows as readonly { key: string; value: string }[]).map(({ key, value }) => [key, value]),
    );
    this.#copy = this.#checkpoints.get(COPY) ?? '';
    this.#lastRun = this.#checkpoints.get(LAST_RUN) ?? '';
    for (const name of [COPY, LAST_RUN]) this.#checkpoints.delete(name);
    // Every page of this run is requested later than what was removed until now.
    if (
      this.#context.purpose === 'sync' &&
      [...this.#checkpoints.keys()].some((key) => key.startsWith('gone '))
    ) {
      await this.#engine.query(sql.clearGone, [this.#tenant]);
    }
  }

  async *#pages(sql: string, values: readonly string[], first = ''): AsyncGenerator<string> {
    for (let after = first; ; ) {
      const page = (await this.#query(sql, [...values, after])) as readonly { id: string }[];
      for (const { id } of page) yield id;
      after = page.at(-1)?.id ?? '';
      if (after === '') return;
    }
  }

  #query(sql: string, values: readonly string[]): Promise<readonly unknown[]> {
    return this.#repeat(() => this.#engine.query(sql, values));
  }

  async #repeat<V>(work: () => Promise<V>): Promise<V> {
    try {
      return await outlasting(work, this.#context);
    } catch (error) {
      const { signal } = this.#context;
      throw signal?.aborted && error === signal.reason ? error : failed(error);
    }
  }
}

/** Of two rows with one id the last one counts. */
function rowsOf(
  { collection, records, rows }: Batch<{ id: string }>,
  all: readonly CopyRow[],
): readonly Row[] {
  const found = all.map(({ id, body, invalid }, index): Row => {
    // What the service sent was JSON before.
    const isSent = invalid || records[index] === rows[index];
    return {
      id: storedId(id),
      body: isSent ? JSON.stringify(body) : storedJson(collection, id, body),
      invalid,
    };
  });
  return [...new Map(found.map((row) => [row.id, row] as const)).values()];
}

/** Rejects a value that JSON would lose, which only a schema of the caller returns. */
function storedJson(collection: string, id: string, body: object): string {
  try {
    return exactJson(body);
  } catch {
    throw new InvalidInputError(
      'schemas',
      `the record ${JSON.stringify(id)} of ${collection} has a value that JSON cannot represent; nothing of its batch was written. Return strings from the schema`,
    );
  }
}
