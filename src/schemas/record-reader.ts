import { quickCheck } from './quick-check.ts';
import type { FieldTable } from './record.ts';
import { ShapeError } from './shape-error.ts';
import type { StandardSchema } from './standard-schema.ts';
import { idOf, isObject, validate } from './validate.ts';

/** What happens to an invalid record: see the client's option `validation`. */
export type Validation = 'throw' | 'report' | 'off';

/** A row that failed validation. */
export interface InvalidRow {
  /** The row's id, if it can be read. */
  readonly id: string | undefined;
  /** What is wrong with it, without values. */
  readonly issues: readonly string[];
  /** The row as the service sent it. */
  readonly record: unknown;
}

/** The rows of a list, valid and invalid ones apart. */
export interface ReadList<T> {
  /** Every row as the service sent it. */
  readonly rows: readonly unknown[];
  readonly records: readonly T[];
  /** The ids of `records` as the service sent them, at the same positions. */
  readonly ids: readonly string[];
  readonly invalid: readonly InvalidRow[];
}

/** A list whose texts about invalid rows went through `clear`; the rows themselves stay as they are. */
export function withoutSecrets<T>(list: ReadList<T>, clear: (text: string) => string): ReadList<T> {
  if (list.invalid.length === 0) return list;
  const invalid = list.invalid.map(({ id, issues, record }) => ({
    id: id === undefined ? undefined : clear(id),
    issues: issues.map(clear),
    record,
  }));
  return { ...list, invalid };
}

/** How the records of one collection are read. */
export interface RecordReaderOptions {
  readonly fields: FieldTable;
  /** The caller's own schema, which runs whole on every record that passed ours. */
  readonly schema: StandardSchema<{ id: string }> | undefined;
  readonly validation: Validation;
  /** Whether the fields that a caller's schema does not name are kept beside its output. */
  readonly keepFields: boolean;
}

type Row = Record<string, unknown> & { id: string };

/** Reads bodies into records. Throws ShapeError for an invalid one. */
export class RecordReader<T extends { id: string }> {
  readonly #options: RecordReaderOptions;
  #fits: ((record: Record<string, unknown>) => boolean) | undefined;
  #schema: Promise<StandardSchema<{ id: string }>> | undefined;

  constructor(options: RecordReaderOptions) {
    this.#options = options;
  }

  /** The record of a body that is one. */
  one(body: unknown): T | Promise<T> {
    if (!isObject(body)) throw new ShapeError('wrong_content', ['expected one record, a JSON object']);
    if (this.#passes(body)) return body as unknown as T;

    return this.#explain(body);
  }

  /** The records of a list: a bare array or the members of a JSON-LD body. */
  list(body: unknown): ReadList<T> | Promise<ReadList<T>> {
    const rows = members(body);
    if (!rows.every((row) => isObject(row) && this.#passes(row))) return this.#sort(rows);

    return { rows, records: rows as T[], ids: (rows as Row[]).map(({ id }) => id), invalid: [] };
  }

  /** Whether a row can be passed on as it is, the same object. */
  #passes(row: Record<string, unknown>): row is Row {
    return this.#options.schema === undefined && this.#isRecord(row);
  }

  /** Whether a row is good by our own schema, without asking Zod. */
  #isRecord(row: Record<string, unknown>): row is Row {
    const { fields, validation } = this.#options;
    if (typeof row.id !== 'string' || row.id === '') return false;
    if (validation === 'off') return !Object.hasOwn(row, '__proto__');

    this.#fits ??= quickCheck(fields);
    return this.#fits(row);
  }

  async #sort(rows: readonly unknown[]): Promise<ReadList<T>> {
    const list = { rows, records: [] as T[], ids: [] as string[], invalid: [] as InvalidRow[] };
    for (const row of rows) {
      try {
        const record = await this.#explain(row);
        list.records.push(record);
        list.ids.push((row as Row).id);
      } catch (error) {
        if (!(error instanceof ShapeError) || this.#options.validation !== 'report') throw error;
        list.invalid.push({ id: error.recordId, issues: error.issues, record: row });
      }
    }
    return list;
  }

  /** The record after our own schema and the caller's; a ShapeError says why it is invalid. */
  async #explain(row: unknown): Promise<T> {
    const { schema, keepFields } = this.#options;
    const record =
      isObject(row) && this.#isRecord(row)
        ? row
        : await validate(await this.#zod(), row, { row, ofCaller: false });
    if (schema === undefined) return record as T;

    const output = await validate(schema, record, { row, ofCaller: true });
    if (typeof output?.id !== 'string')
      throw new ShapeError('wrong_shape', ['id: lost by the schema'], {
        recordId: idOf(row),
        ofCaller: true,
      });
    return (keepFields ? { ...record, ...output } : output) as T;
  }

  /** Our own schema as Zod's, loaded with the first record that fails the quick check. */
  #zod(): Promise<StandardSchema<{ id: string }>> {
    const { fields, validation } = this.#options;
    // Without an id a record can be neither found again nor stored, so `off` does not go that far.
    this.#schema ??= import('./record-schema.ts').then(({ schemaOf }) =>
      schemaOf(validation === 'off' ? {} : fields),
    );
    return this.#schema;
  }
}

function members(body: unknown): readonly unknown[] {
  if (Array.isArray(body)) return body;
  if (isObject(body)) {
    for (const name of ['member', 'hydra:member']) {
      const value = body[name];
      if (Array.isArray(value)) return value;
    }
  }
  throw new ShapeError('wrong_content', ['expected a list of records, a JSON array']);
}
