import { AccountingError } from '../errors/accounting-error.ts';
import { checkMethods, checkOptionNames } from '../errors/check-input.ts';
import { ConcurrentRunError } from '../errors/concurrent-run-error.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import type { OptionNames } from '../internal/option-names.ts';
import { causeText } from '../internal/text.ts';
import type { Batch } from '../sync/batch.ts';
import type { OpenTarget, SyncTarget } from '../sync/target.ts';
import { failedWrite, KnownFields, type Row, rowsOf, unstorable, viewName } from './contents.ts';
import { statementsFor } from './postgres-sql.ts';

/**
 * A connection to PostgreSQL, or a pool: of `pg`, or PGlite, as they are. For postgres.js:
 * `{ query: (text, values) => sql.unsafe(text, values) }`.
 */
export interface PostgresConnection {
  /** Sends one statement. Resolves to its rows, or to an object with them. */
  query(text: string, values?: string[]): PromiseLike<PostgresResult>;
}

/** What a query resolves to. */
export type PostgresResult = { readonly rows: readonly unknown[] } | readonly unknown[];

/** Options of {@link postgresTarget}. */
export interface PostgresTargetOptions {
  /** The schema of tables and views: lower-case letters, digits and `_`. Default: `accounting`. */
  schema?: string | undefined;
}

const POSTGRES_OPTIONS: OptionNames<PostgresTargetOptions> = { schema: true };

/**
 * A copy in PostgreSQL 13 or newer, for the option `target` of `sync`. The connection stays open.
 *
 * ```ts
 * await sync(createClient(), { tenant: 'acme', target: postgresTarget(new pg.Pool()) });
 * ```
 * The records are in `accounting.record`. Each collection has a view, such as `accounting.products` and
 * `accounting.bank_feed_accounts`, with `tenant`, `id` and one column for each field that was ever seen. A batch and its
 * checkpoint are one statement, so that a pool is enough: no transaction has to stay on one connection.
 *
 * @throws When a sync opens it: InvalidInputError if the tables cannot be created, or have another shape. In the batch
 * that could not be written: CheckpointError, with the error of the driver as its cause, or ConcurrentRunError if
 * another sync of the tenant wrote at the same time.
 */
export function postgresTarget(
  connection: PostgresConnection,
  options: PostgresTargetOptions = {},
): SyncTarget {
  checkOptionNames(options, POSTGRES_OPTIONS, { of: 'postgresTarget' });
  checkMethods(connection, 'connection', ['query']);
  const { schema = 'accounting' } = options;
  if (typeof schema !== 'string' || !/^[a-z_][a-z0-9_]{0,49}$/.test(schema)) {
    throw new InvalidInputError(
      'schema',
      'must be at most 50 lower-case letters, digits and "_", not beginning with a digit',
    );
  }
  return {
    async open(tenant) {
      const copy = new PostgresCopy(connection, schema, tenant);
      await copy.setUp();
      return copy;
    },
  };
}

/** The copy of one tenant. */
class PostgresCopy implements OpenTarget {
  readonly #connection: PostgresConnection;
  readonly #sql: ReturnType<typeof statementsFor>;
  readonly #schema: string;
  readonly #tenant: string;
  readonly #known = new KnownFields();
  readonly #views = new Set<string>();
  /** The checkpoints that this run has read or written. */
  readonly #checkpoints = new Map<string, string | undefined>();

  constructor(connection: PostgresConnection, schema: string, tenant: string) {
    this.#connection = connection;
    this.#sql = statementsFor(schema);
    this.#schema = schema;
    this.#tenant = tenant;
  }

  async setUp(): Promise<void> {
    try {
      await this.#query(this.#sql.setUp);
      await this.#query(this.#sql.shape);
      for (const row of await this.#query(this.#sql.fields)) {
        const { collection, name, view } = row as { collection: string; name: string; view: string | null };
        if (view === null) this.#known.add(collection, [name]);
        else this.#views.add(view);
      }
    } catch (error) {
      throw new InvalidInputError(
        'target',
        `the schema "${this.#schema}" cannot be used: ${causeText(error)}`,
        {},
        { cause: error },
      );
    }
  }

  readonly store = {
    get: async (key: string): Promise<string | undefined> => {
      const [row] = await this.#query(this.#sql.checkpoint, [key]);
      const value = (row as { value: string } | undefined)?.value;
      this.#checkpoints.set(key, value);
      return value;
    },
  };

  /** Writes records and checkpoint in one statement. */
  async onBatch(batch: Batch<{ id: string }>): Promise<void> {
    const { collection, records, key, checkpoint } = batch;
    const rows = rowsOf(batch);
    rejectUnstorable(collection, rows);
    const fields = this.#known.unknown(collection, records);
    const view = viewName(collection);
    const before = this.#checkpoints.get(key);
    let moved: unknown;
    try {
      // Add the columns first: if the process ends in between, they are empty.
      if (fields.length > 0 || !this.#views.has(view)) {
        await this.#query(this.#sql.updateView({ collection, view, fields }));
        this.#views.add(view);
        this.#known.add(collection, fields);
      }
      const bodies = `[${rows.map(({ body }) => body).join(',')}]`;
      const values = [this.#tenant, collection, bodies, key, checkpoint];
      // An empty string is no checkpoint: it stands for none.
      [moved] = await this.#query(this.#sql.write, [...values, before ?? '']);
    } catch (error) {
      throw error instanceof AccountingError ? error : failedWrite(error);
    }
    if (Number((moved as { moved: unknown } | undefined)?.moved) !== 1) {
      throw new ConcurrentRunError(
        `Another sync of ${this.#tenant} wrote the checkpoint ${key} at the same time.`,
        { retryable: true, hint: 'Run one at a time.' },
      );
    }
    this.#checkpoints.set(key, checkpoint);
  }

  async onDelete(ids: readonly string[], collection: string): Promise<void> {
    try {
      await this.#query(this.#sql.remove, [this.#tenant, collection, JSON.stringify(ids)]);
    } catch (error) {
      throw failedWrite(error);
    }
  }

  async *localIds(collection: string): AsyncGenerator<string> {
    for (let after = ''; ; ) {
      const rows = await this.#query(this.#sql.ids, [this.#tenant, collection, after]);
      const ids = (rows as readonly { id: string }[]).map(({ id }) => id);
      yield* ids;
      after = ids.at(-1) ?? '';
      if (after === '') return;
    }
  }

  async #query(text: string, values?: string[]): Promise<readonly unknown[]> {
    const result = await (values === undefined
      ? this.#connection.query(text)
      : this.#connection.query(text, values));
    return 'rows' in result ? result.rows : result;
  }
}

/** PostgreSQL stores neither a NUL character nor half of a surrogate pair. */
function rejectUnstorable(collection: string, rows: readonly Row[]): void {
  for (const { id, body } of rows) {
    // After an even number of backslashes, `\u0000` begins with an escaped backslash and is text.
    if (body.includes('\\u') && /(?<!\\)(?:\\\\)*\\u(?:0000|[dD][89a-fA-F])/.test(body)) {
      throw unstorable(
        collection,
        id,
        'has a NUL character or half of a surrogate pair, which PostgreSQL cannot store. Remove it in a schema of the client',
      );
    }
  }
}
