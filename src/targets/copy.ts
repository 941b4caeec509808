import { documentedFields } from '../collections/index.ts';
import { ConcurrentRunError } from '../errors/concurrent-run-error.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { exactJson, jsonText } from '../internal/json-text.ts';
import { causeText, sentence } from '../internal/text.ts';
import { VERSION } from '../internal/version.ts';
import type { FieldKind } from '../schemas/field-kinds.ts';
import { fieldKinds } from '../schemas/field-kinds.ts';
import { productServerFields } from '../schemas/product-fields.ts';
import type { Batch } from '../sync/batch.ts';
import type { CollectionEnd, OpenTarget, StoredRow, TargetContext, Written } from '../sync/target.ts';
import { MAX_COLUMNS, viewName } from './columns.ts';
import { failed, failureKind, outlasting, type Patience } from './failures.ts';
import { type Dialect, type Statements, statementsIn } from './sql.ts';

/** A record as the table has it. */
export interface Row {
  readonly id: string;
  /** As JSON. */
  readonly body: string;
  readonly invalid: boolean;
}

/** What one transaction writes. */
export interface Write {
  readonly tenant: string;
  readonly collection: string;
  readonly rows: readonly Row[];
  readonly key: string;
  readonly checkpoint: string;
  /** The checkpoint that this run knows. */
  readonly before: string | undefined;
  /** The key of the tenant's guard, without which nothing is written. */
  readonly guard: string;
  /** The full read that marks the rows. */
  readonly read: number | undefined;
}

/** The kinds of fields by name; undefined for a field without one. */
type Fields = ReadonlyMap<string, FieldKind | undefined>;

const NO_FIELDS: Fields = new Map();

const STATUS_VIEW = 'sync_status';

/** A table or view. */
interface DatabaseObject {
  readonly name: string;
  readonly kind: string;
  readonly definition: string | null;
}

/** A database, as far as the two differ. */
export interface Engine {
  readonly dialect: Dialect;
  /** Names the tables in messages and in the definitions of views. */
  readonly owner: string;
  /** What to do about an object of the user under the name of a view. */
  readonly nameAdvice: string;
  /** Of what has one of these names: name, kind and definition. The definition of a view of ours contains its mark. */
  readonly objectsNamed: string;
  /** Sends one statement. */
  query(sql: string, values?: readonly string[]): Promise<readonly unknown[]>;
  /** Runs statements in one transaction. */
  script(statements: readonly string[]): Promise<void>;
  replaceView(view: { name: string; definition: string; mark: string; exists: boolean }): Promise<void>;
  /** Writes all or nothing; undefined if the checkpoint is that of another run, or the guard is gone. */
  write(write: Write): Promise<Written | undefined>;
  /** What to do about a view that cannot be replaced. */
  viewAdvice(name: string, error: unknown): string;
  close(): void;
}

/** What a target does without a run: for tests, and callers that open it themselves. */
export const ALONE: TargetContext = {
  purpose: 'sync',
  collections: [],
  signal: undefined,
  maxOutageMs: 10_000,
  fieldsOf: () => ({}),
  warn: () => {},
};

/** The kinds of fields that every collection may have. */
const COMMON_FIELDS: Readonly<Record<string, FieldKind>> = productServerFields;

/** The copy of one tenant, in whatever database it is. */
export class Copy implements OpenTarget {
  readonly #engine: Engine;
  readonly #sql: Statements;
  readonly #tenant: string;
  readonly #context: TargetContext;
  readonly #patience: Patience;
  readonly #guard: string;
  #isAdmitted = false;
  /** The fields of each collection, and what has the name of its view, as this run knows them. */
  readonly #fields = new Map<string, Map<string, FieldKind | undefined>>();
  readonly #objects = new Map<string, DatabaseObject>();
  /** The collections whose views are as they should be, or cannot be for now. */
  readonly #shown = new Set<string>();
  /** The checkpoints of the tenant, as this run has read or written them: a batch is written only if they are the same. */
  #checkpoints: Map<string, string> | undefined;

  private constructor(engine: Engine, tenant: string, context: TargetContext) {
    this.#engine = engine;
    this.#sql = statementsIn(engine.dialect);
    this.#tenant = tenant;
    this.#context = context;
    this.#patience = context;
    // Two parts: the key of a state has three.
    this.#guard = `company:${tenant}`;
  }

  /** Opens the copy, and creates its tables if they do not exist. */
  static async open(engine: Engine, tenant: string, context: TargetContext = ALONE): Promise<Copy> {
    const copy = new Copy(engine, tenant, context);
    try {
      await outlasting(() => copy.#setUp(), context);
      return copy;
    } catch (error) {
      engine.close();
      if (failureKind(error) !== 'never' || context.signal?.aborted) throw failed(error);
      throw new InvalidInputError(
        'target',
        `the tables of ${engine.owner} cannot be used: ${causeText(error)}`,
        {},
        { cause: error },
      );
    }
  }

  async #setUp(): Promise<void> {
    try {
      await this.#checkShape();
    } catch (error) {
      if (this.#context.purpose !== 'sync' || failureKind(error) !== 'never') throw error;
      // Only now: a role that may only write rows must not create anything, not even IF NOT EXISTS.
      await this.#engine.script(this.#sql.create);
      await this.#checkShape();
    }
    if (this.#context.purpose !== 'sync') return;
    await this.#readViews(this.#context.collections, STATUS_VIEW);
    await this.#replaceView(STATUS_VIEW, '', (mark) => this.#sql.statusView(mark));
  }

  async #checkShape(): Promise<void> {
    await this.#engine.query(this.#sql.shape);
  }

  readonly store = {
    get: async (key: string): Promise<string | undefined> => (await this.#ownCheckpoints()).get(key),
  };

  /** What tells this company from others. */
  readonly company = {
    get: async () => (await this.#ownCheckpoints()).get(this.#guard) || undefined,
    set: async (value: string) => {
      await this.#query(this.#sql.setCheckpoint, [this.#tenant, this.#guard, value]);
      this.#isAdmitted = true;
    },
  };

  /** Which records a full read has listed. */
  readonly marks = {
    count: async (collection: string, read: number) => {
      const [row] = await this.#query(this.#sql.counts, [this.#tenant, collection, `${read}`]);
      const { records, marked } = row as { records: unknown; marked: unknown };
      return { records: Number(records), marked: Number(marked) };
    },
    unmarked: (collection: string, read: number) =>
      this.#pages(this.#sql.unmarkedIds, [this.#tenant, collection, `${read}`]),
  };

  /** Writes records, marks and checkpoint together. */
  async onBatch(batch: Batch<{ id: string }>): Promise<Written> {
    const { collection, key, checkpoint, read } = batch;
    const rows = rowsOf(batch);
    const storable = batch.invalid.map((row) => row.storable ?? {});
    const write = { tenant: this.#tenant, collection, rows, key, checkpoint, guard: this.#guard, read };
    const checkpoints = await this.#ownCheckpoints();
    const before = checkpoints.get(key);
    const written = await this.#repeat(async () => {
      await this.#admit();
      await this.#showFields(collection, [...batch.records, ...storable]);
      return await this.#engine.write({ ...write, before });
    });
    if (written === undefined) throw this.#isConcurrent(key);
    checkpoints.set(key, checkpoint);
    if (written.replaced.length > 0) {
      const ids = written.replaced.map((id) => JSON.stringify(id)).join(', ');
      this.#context.warn(
        `Records of ${collection} have characters that PostgreSQL cannot store (U+0000, or half of a surrogate pair); the copy has U+FFFD in their place: ${ids}.`,
      );
    }
    return written;
  }

  /** Removes records. Returns how many there were. */
  async onDelete(ids: readonly string[], collection: string): Promise<number> {
    const removed = await this.#query(this.#sql.removeRecords, [
      this.#tenant,
      collection,
      JSON.stringify(ids),
    ]);
    return removed.length;
  }

  localIds(collection: string): AsyncGenerator<string> {
    return this.#pages(this.#sql.ids, [this.#tenant, collection]);
  }

  async rows(collection: string, ids: readonly string[]): Promise<readonly StoredRow[]> {
    const rows = await this.#query(this.#sql.rows, [this.#tenant, collection, JSON.stringify(ids)]);
    return (rows as readonly { id: string; body: string; version: string }[]).map(
      ({ id, body, version }) => ({
        id,
        body: JSON.parse(body) as unknown,
        version,
      }),
    );
  }

  /** Writes or removes one record, unless it was written since `version`. */
  async replace(
    collection: string,
    id: string,
    row: { readonly body: object; readonly invalid: boolean } | undefined,
    version: string | undefined,
  ): Promise<boolean> {
    const address = [this.#tenant, collection, id];
    if (row === undefined) {
      return (await this.#query(this.#sql.removeRecord, [...address, version ?? ''])).length > 0;
    }
    const { body, invalid } = row;
    const content = [storedJson(collection, { id, body }), invalid ? '1' : '0', version ?? '', this.#guard];
    return await this.#repeat(async () => {
      await this.#admit();
      await this.#showFields(collection, [body]);
      return (await this.#engine.query(this.#sql.replaceRecord, [...address, ...content])).length > 0;
    });
  }

  /** Notes how far the copy of each collection is, or why its run failed. */
  async onEnd(ends: readonly CollectionEnd[]): Promise<void> {
    const at = (time: Date | undefined) => time?.toISOString() ?? '';
    const statuses = ends.map(({ report, endedAt, error }) => {
      const { collection, status, watermark, lastFullRead, complete, deletions } = report;
      const isDone = status === 'done';
      const checked = isDone && deletions !== undefined && deletions.skipped === undefined;
      return [
        collection,
        at(watermark),
        at(isDone ? endedAt : undefined),
        at(lastFullRead),
        at(checked ? endedAt : undefined),
        isDone ? (complete ?? '') : '',
        error === undefined ? '' : causeText(error) || 'unknown',
      ];
    });
    await this.#query(this.#sql.setStatus, [this.#tenant, JSON.stringify(statuses)]);
  }

  /** Removes everything of the tenant. */
  async forget(): Promise<void> {
    await this.#repeat(() => this.#engine.script(this.#sql.forget(this.#tenant, this.#guard)));
  }

  close(): void {
    this.#engine.close();
  }

  /** Once, so that a run whose tenant is forgotten meanwhile does not bring the guard back. */
  async #admit(): Promise<void> {
    if (this.#isAdmitted) return;
    await this.#engine.query(this.#sql.addCheckpoint, [this.#tenant, this.#guard, '']);
    this.#isAdmitted = true;
  }

  #isConcurrent(key: string): ConcurrentRunError {
    return new ConcurrentRunError(
      `Another run of ${this.#tenant} wrote the checkpoint ${key} at the same time, or the tenant was forgotten. The batch was not written. Records that both runs read may be older in the copy than at the service.`,
      { retryable: true, hint: "Run once in mode: 'full', and one run at a time." },
    );
  }

  async #ownCheckpoints(): Promise<Map<string, string>> {
    if (this.#checkpoints === undefined) {
      const rows = await this.#query(this.#sql.checkpoints, [this.#tenant]);
      const entries = rows as readonly { key: string; value: string }[];
      this.#checkpoints ??= new Map(entries.map(({ key, value }) => [key, value]));
      this.#isAdmitted ||= this.#checkpoints.has(this.#guard);
    }
    return this.#checkpoints;
  }

  async *#pages(sql: string, values: readonly string[]): AsyncGenerator<string> {
    for (let after = ''; ; ) {
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
      return await outlasting(work, this.#patience);
    } catch (error) {
      const { signal } = this.#context;
      throw signal?.aborted && error === signal.reason ? error : failed(error);
    }
  }

  /** Remembers the fields of a collection, and gives its view a column for each. */
  async #showFields(collection: string, records: readonly object[]): Promise<void> {
    const declared = this.#declared(collection);
    if (!this.#fields.has(collection)) await this.#readViews([collection]);
    const known = () => this.#fields.get(collection) ?? NO_FIELDS;
    const added = newFields(known(), declared, records);
    if (added.size === 0 && this.#shown.has(collection)) return;

    if (added.size > 0) {
      const list = JSON.stringify([...added].map(([name, kind]) => [name, kind ?? null]));
      await this.#engine.query(this.#sql.addFields, [collection, list]);
    }
    const view = viewName(collection);
    // Another process may have added fields too.
    if (added.size > 0 || !this.#isCurrent(view, contentOf(known()))) await this.#readViews([collection]);
    for (const [name, kind] of declared) {
      const stored = known().get(name);
      if (stored === undefined || kind === undefined || stored === kind) continue;
      this.#context.warn(
        `${name} of ${collection} is ${kind} in the schema of this client, but has a column of kind ${stored} in the copy: the first schema that names a field decides. Values of another type are null in the view.`,
      );
    }
    const fields = [...known()].map(([name, kind]) => ({ name, kind }));
    await this.#replaceView(view, contentOf(known()), (mark) =>
      this.#sql.recordView({ name: view, mark, collection, fields }),
    );
    this.#shown.add(collection);
  }

  /** The fields that documentation and schema name. */
  #declared(collection: string): Fields {
    const documented = documentedFields(collection);
    const declared = new Map<string, FieldKind | undefined>(Object.entries(documented));
    for (const [name, kind] of Object.entries(this.#context.fieldsOf(collection))) {
      const known = declared.get(name) ?? commonKind(name);
      // The documentation may know more: an amount is a string.
      const isSame = known && kind && fieldKinds[known].json === fieldKinds[kind].json;
      declared.set(name, isSame ? known : kind);
    }
    return declared;
  }

  /** Reads the fields of collections, and what has the names of their views. */
  async #readViews(collections: readonly string[], ...more: readonly string[]): Promise<void> {
    for (const collection of collections) this.#fields.set(collection, new Map());
    const rows = await this.#engine.query(this.#sql.fields, [JSON.stringify(collections)]);
    for (const row of rows) {
      const { collection, name, kind } = row as { collection: string; name: string; kind: FieldKind | null };
      this.#fields.get(collection)?.set(name, kind ?? undefined);
    }
    const views = [...more, ...collections.map(viewName)];
    for (const view of views) this.#objects.delete(view);
    const objects = await this.#engine.query(this.#engine.objectsNamed, [JSON.stringify(views)]);
    for (const object of objects as readonly DatabaseObject[]) this.#objects.set(object.name, object);
  }

  /** Begins the definition of a view that shows this content. */
  #mark(content: string): string {
    return `/* accounting-data-sdk ${VERSION} for ${this.#engine.owner}${content} */`;
  }

  #isCurrent(view: string, content: string): boolean {
    return this.#objects.get(view)?.definition?.includes(this.#mark(content)) ?? false;
  }

  /** Replaces a view unless it is as it should be. What cannot be replaced is a warning: the records matter more. */
  async #replaceView(name: string, content: string, definitionOf: (mark: string) => string): Promise<void> {
    if (this.#isCurrent(name, content)) return;
    const mark = this.#mark(content);
    const existing = this.#objects.get(name);
    try {
      if (existing !== undefined && !isOurs(existing.definition, this.#engine.owner)) {
        throw new InvalidInputError(
          'target',
          `${name} is a ${existing.kind} that was not created for ${this.#engine.owner}. ${this.#engine.nameAdvice}`,
        );
      }
      const exists = existing !== undefined;
      await this.#engine.replaceView({ name, mark, definition: definitionOf(mark), exists });
    } catch (error) {
      if (error instanceof InvalidInputError || failureKind(error) !== 'never') throw error;
      this.#context.warn(
        `${sentence(`The view ${name} could not be replaced: ${causeText(error)}`)} The records are written, and the next sync tries again. ${this.#engine.viewAdvice(name, error)}`,
      );
    }
  }
}

function isOurs(definition: string | null, owner: string): boolean {
  const [, found] = /\/\* accounting-data-sdk \S+ for ([^\s:]+)[: ]/.exec(definition ?? '') ?? [];
  return found === owner;
}

function commonKind(name: string): FieldKind | undefined {
  return Object.hasOwn(COMMON_FIELDS, name) ? COMMON_FIELDS[name] : undefined;
}

/** What the definition of a view says about its columns. */
function contentOf(fields: Fields): string {
  const typed = [...fields.values()].filter((kind) => kind !== undefined).length;
  return `: ${fields.size} fields, ${typed} typed`;
}

/** What the table of fields lacks: fields, and kinds of fields. In the order of their columns. */
function newFields(known: Fields, declared: Fields, records: readonly object[]): Fields {
  const added = new Map<string, FieldKind | undefined>();
  const add = (name: string, kind: FieldKind | undefined) => {
    const isKnown = known.has(name) && (known.get(name) !== undefined || kind === undefined);
    if (isKnown || name === 'id' || known.size + added.size >= MAX_COLUMNS) return;
    added.set(name, kind);
  };
  for (const [name, kind] of declared) add(name, kind);
  for (const record of records) {
    for (const name in record) {
      if (!known.has(name) && !added.has(name)) add(name, commonKind(name));
    }
  }
  return added;
}

/** The rows of a batch: its records, and what a copy may hold of its invalid rows. */
function rowsOf({ collection, records, rows, invalid }: Batch<{ id: string }>): readonly Row[] {
  const valid = records.map((record, index) => {
    // What the service sent was JSON before.
    const isSent = record === rows[index];
    const body = isSent ? jsonText(record) : storedJson(collection, { id: record.id, body: record });
    return { id: record.id, body, invalid: false };
  });
  const kept = invalid.flatMap(({ id, storable }) =>
    id === undefined || storable === undefined ? [] : [{ id, body: jsonText(storable), invalid: true }],
  );
  return [...valid, ...kept];
}

/** Rejects a value that JSON would lose, which only a schema of the caller returns. */
function storedJson(
  collection: string,
  { id, body }: { readonly id: string; readonly body: object },
): string {
  try {
    return exactJson(body) as string;
  } catch {
    throw new InvalidInputError(
      'schemas',
      `the record ${JSON.stringify(id)} of ${collection} has a value that JSON cannot represent; nothing of its batch was written. Return strings from the schema`,
    );
  }
}
