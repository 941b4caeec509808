import { isTooDeep, MOST_LEVELS, quickCheck } from './quick-check.ts';
import type { FieldTable } from './record.ts';
import { ShapeError } from './shape-error.ts';
import type { StandardSchema } from './standard-schema.ts';
import { withStringId } from './unreadable-id.ts';
import { idOf, isObject, readOutput, validate } from './validate.ts';
import { zodFields } from './zod-fields.ts';

/** What happens to an invalid record: see the client's option `validation`. */
export type ValidationMode = 'throw' | 'report' | 'off';

/**
 * Who reads: a caller, a run of `sync` or `changes` into functions, a copy, or a push. `validation` of the client decides what happens to an invalid row; without it a
 * copy reports it, because one odd record must not end a copy for good. A push always reports it, because its row is enough.
 */
export type ReadFor = 'caller' | 'run' | 'copy' | 'push';

/** A row that failed validation. */
interface InvalidRow {
  /** The row's id, if it can be read. */
  readonly id: string | undefined;
  /** What is wrong with it, without values. */
  readonly issues: readonly string[];
  /** The row as the service sent it. */
  readonly record: unknown;
  /** What a copy may hold of it: see `InvalidRecord`. */
  readonly storable: Readonly<Record<string, unknown>> | undefined;
}

/** The rows of a list, valid and invalid ones apart. */
export interface ReadList {
  /** Every row as the service sent it. */
  readonly rows: readonly unknown[];
  readonly records: readonly { id: string }[];
  /** The ids of `records` as the service sent them, at the same positions. */
  readonly ids: readonly string[];
  /** The rows of `records`, at the same positions. */
  readonly sent: readonly unknown[];
  readonly invalid: readonly InvalidRow[];
}

interface RecordReaderOptions {
  readonly fields: FieldTable;
  /** The caller's own schema, which runs whole on every record that passed ours. */
  readonly schema: StandardSchema<{ id: string }> | undefined;
  /** With `numbers`, integer ids may be JSON numbers. */
  readonly ids: 'strings' | 'numbers';
  readonly validation: ValidationMode | undefined;
}

type RowWithId = Record<string, unknown> & { id: string };

/** Reads bodies into records. Throws ShapeError for an invalid one. */
export class RecordReader {
  readonly #options: RecordReaderOptions;
  #fits: ((record: Record<string, unknown>) => boolean) | undefined;
  /** Our own schema as Zod's, loaded with the first record that fails the quick check. */
  #zod: StandardSchema<{ id: string }> | undefined;

  constructor(options: RecordReaderOptions) {
    this.#options = options;
  }

  /** The record of a body that is one. */
  one(body: unknown): { id: string } | Promise<{ id: string }> {
    if (!isObject(body)) throw new ShapeError('wrong_content', ['expected one record, a JSON object']);
    withoutContext(body);
    return this.#passes(body) ? body : this.#explain(body);
  }

  /** The records of a list: a bare array or the members of a JSON-LD body. */
  list(body: unknown, readFor: ReadFor = 'caller'): ReadList | Promise<ReadList> {
    const rows = members(body);
    if (this.#options.ids === 'numbers') for (const row of rows) withStringId(row);
    const ids: string[] = [];
    rows.forEach(withoutContext);
    for (const row of rows) {
      if (!isObject(row) || !this.#passes(row)) return this.#sort(rows, readFor);
      ids.push(row.id);
    }
    return { rows, records: rows as RowWithId[], ids, sent: rows, invalid: [] };
  }

  /** Whether a row can be passed on as it is, the same object. */
  #passes(row: Record<string, unknown>): row is RowWithId {
    return this.#options.schema === undefined && this.#isRecord(row);
  }

  /** Whether a row matches our own schema, without Zod. */
  #isRecord(row: Record<string, unknown>): row is RowWithId {
    if (typeof row.id !== 'string' || row.id === '') return false;

    this.#fits ??= quickCheck(this.#checkedFields);
    return this.#fits(row);
  }

  /** The fields that are checked beside `id`, without which a record can be neither found again nor stored. */
  get #checkedFields(): FieldTable | undefined {
    return this.#options.validation === 'off' ? undefined : this.#options.fields;
  }

  async #sort(rows: readonly unknown[], readFor: ReadFor): Promise<ReadList> {
    const list = {
      rows,
      records: [] as { id: string }[],
      ids: [] as string[],
      sent: [] as unknown[],
      invalid: [] as InvalidRow[],
    };
    for (const row of rows) {
      try {
        const record = await this.#explain(row);
        list.records.push(record);
        list.ids.push((row as RowWithId).id);
        list.sent.push(row);
      } catch (error) {
        if (!(error instanceof ShapeError) || !this.#reports(readFor) || isTooDeep(row)) throw error;
        const { recordId: id, issues } = error;
        list.invalid.push({ id, issues, record: row, storable: await this.#storable(row) });
      }
    }
    return list;
  }

  #reports(readFor: ReadFor): boolean {
    const { validation = readFor === 'copy' ? 'report' : 'throw' } = this.#options;
    return readFor === 'push' || validation === 'report';
  }

  /** What a copy may hold of an invalid row: a schema that strips fields keeps them out of the copy. */
  async #storable(row: unknown): Promise<Readonly<Record<string, unknown>> | undefined> {
    const id = idOf(row);
    if (id === undefined || !isObject(row)) return undefined;
    const { schema } = this.#options;
    if (schema === undefined) return row;
    const kept: Record<string, unknown> = {};
    for (const [name, field] of Object.entries(zodFields(schema) ?? {})) {
      if (!Object.hasOwn(row, name)) continue;
      // The output of a field that is valid: it may be stripped.
      const value = await validate(field, row[name], { row, ofCaller: true }).catch(() => row[name]);
      if (value !== undefined) kept[name] = value;
    }
    return { ...kept, id };
  }

  /** The record that Zod makes of a row which failed the quick check. */
  async #checked(row: unknown): Promise<{ id: string }> {
    if (isTooDeep(row)) {
      const issue = `is nested more than ${MOST_LEVELS} levels deep`;
      throw new ShapeError('wrong_shape', [issue], { recordId: idOf(row) });
    }
    this.#zod ??= (await import('./record-schema.ts')).schemaOf(this.#checkedFields);
    return validate(this.#zod, row, { row, ofCaller: false });
  }

  /** The record after our own schema and the caller's; a ShapeError says why it is invalid. */
  async #explain(sent: unknown): Promise<{ id: string }> {
    const { schema } = this.#options;
    const row = withoutPrototype(sent);
    const record = isObject(row) && this.#isRecord(row) ? row : await this.#checked(row);
    if (schema === undefined) return record;

    const output = await validate(schema, record, { row, ofCaller: true });
    return readOutput(row, () => {
      if (typeof output?.id === 'string') return output;
      throw new ShapeError('wrong_shape', ['id: lost by the schema'], {
        recordId: idOf(row),
        ofCaller: true,
      });
    });
  }
}

/** Without a member called `__proto__`, which Zod 4.3 would make the prototype of the record. */
function withoutPrototype(row: unknown): unknown {
  if (!isObject(row) || !Object.hasOwn(row, '__proto__')) return row;
  return Object.fromEntries(Object.entries(row).filter(([name]) => name !== '__proto__'));
}

/** JSON-LD names its vocabulary in a document, such as one record, and not in the records of a list: it is no field. */
function withoutContext(row: unknown): void {
  if (isObject(row) && Object.hasOwn(row, '@context')) delete row['@context'];
}

function members(body: unknown): readonly unknown[] {
  const found = isObject(body) ? (body.member ?? body['hydra:member']) : undefined;
  const rows = rowsOf(body) ?? rowsOf(found);
  if (rows !== undefined) return rows;
  throw new ShapeError('wrong_content', ['expected a list of records, a JSON array']);
}

/** PHP sends an array with a gap in its indexes as an object. */
function rowsOf(list: unknown): readonly unknown[] | undefined {
  if (Array.isArray(list)) return list;
  const names = isObject(list) ? Object.keys(list) : [];
  const isArray = names.length > 0 && names.every((name) => /^\d+$/.test(name));
  return isArray && Object.values(list as object).every(isObject) ? Object.values(list as object) : undefined;
}
