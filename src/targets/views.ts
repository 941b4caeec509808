import { documentedFields } from '../collections/index.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { sentence } from '../internal/text.ts';
import { VERSION } from '../internal/version.ts';
import { type FieldKind, fieldKinds } from '../schemas/field-kinds.ts';
import { productServerFields } from '../schemas/product-fields.ts';
import type { TargetContext } from '../sync/target.ts';
import {
  type ColumnKind,
  type Fields,
  isReference,
  MAX_COLUMNS,
  unreadableDateIn,
  viewName,
} from './columns.ts';
import type { Engine } from './engine.ts';
import { reasonOf } from './failures.ts';

/** The kinds of fields that every collection may have. */
const COMMON_FIELDS: ReadonlyMap<string, FieldKind> = new Map(Object.entries(productServerFields));

const STATUS_VIEW = 'sync_status';

/** A table or view. */
interface DatabaseObject {
  readonly name: string;
  readonly kind: string;
  readonly definition: string | null;
}

/** The views of a copy, and the fields that they show, as this run knows them. */
export class Views {
  readonly #engine: Engine;
  readonly #context: TargetContext;
  readonly #fields = new Map<string, Map<string, ColumnKind | undefined>>();
  /** What has the name of a view. */
  readonly #objects = new Map<string, DatabaseObject>();
  /** The collections whose views are as they should be, or cannot be for now. */
  readonly #shown = new Set<string>();
  /** Views that this run could not replace: an attempt may wait for a lock. */
  readonly #postponed = new Set<string>();
  readonly #warnings = new Set<string>();
  /** The timestamps of collections that were warned of. */
  readonly #dated = new Set<string>();

  constructor(engine: Engine, context: TargetContext) {
    this.#engine = engine;
    this.#context = context;
  }

  /** Reads what there is, in few queries, and creates the view of the status. */
  async setUp(): Promise<void> {
    await this.#read(this.#context.collections, STATUS_VIEW);
    if (this.#mayReplace(STATUS_VIEW)) await this.#replace(STATUS_VIEW, '', this.#engine.sql.statusView);
  }

  /** Remembers the fields of a collection, and gives its view a column for each. */
  async show(collection: string, records: readonly object[]): Promise<void> {
    const declared = this.#declared(collection);
    const known = this.#fields.get(collection) ?? (await this.#readOne(collection));
    const added = newFields(known, declared, records, this.#engine.maxIndexedBytes);
    this.#warnOfDates(collection, records);
    if (added.size === 0 && this.#shown.has(collection)) return;

    if (added.size > 0) {
      const list = JSON.stringify([...added].map(([name, kind]) => [name, kind ?? null]));
      await this.#engine.query(this.#engine.sql.addFields, [collection, list]);
    }
    this.#warnOfLongTexts(collection, added);
    // Another process may have added fields too.
    const isKnown = added.size === 0 && this.#isCurrent(viewName(collection), contentOf(known));
    const fields = isKnown ? known : await this.#readOne(collection);
    for (const [name, kind] of declared) {
      const stored = fields.get(name);
      if (stored === undefined || stored === 'long' || kind === undefined || stored === kind) continue;
      this.#warn(
        `${name} of ${collection} is ${kind} in the schema of this client, but has a column of kind ${stored} in the copy: the first schema that names a field decides. Values of another type are null in the view.`,
      );
    }
    if (!isKnown) await this.#showFields(collection, fields);
    this.#shown.add(collection);
  }

  /** Gives a collection the view that shows these fields, as far as the database can. */
  async #showFields(collection: string, fields: Fields): Promise<void> {
    const name = viewName(collection);
    const { sql } = this.#engine;
    if (!this.#mayReplace(name)) return;
    const shown = this.#objects.has(name) ? await this.#engine.shownFields(name, fields) : fields;
    const kept = [...shown].flatMap(([field, kind]) => (kind === fields.get(field) ? [] : [field]));
    if (kept.length > 0) {
      const view = sql.view(name);
      this.#warn(
        `${kept.join(', ')} of ${collection} ${kept.length === 1 ? 'has a type' : 'have types'} now, but the view ${this.#engine.viewPrefix}${name} keeps text, because PostgreSQL changes the type of no column of a view. To change it, run DROP VIEW ${view} CASCADE, then a sync, then GRANT SELECT ON ${view} TO the roles that read it.`,
      );
    }
    const { indexed, failure } = await this.#engine.index(shown);
    if (failure !== undefined)
      await this.#postpone(undefined, `An index of ${collection} is missing`, failure);
    const content = `${contentOf(shown)}${failure === undefined ? '' : ', of which some lack an index'}`;
    await this.#replace(name, content, sql.recordView(collection, shown, indexed));
  }

  /** Says once of a field that it has lost its index. */
  #warnOfLongTexts(collection: string, added: Fields): void {
    const names = [...added].flatMap(([name, kind]) => (kind === 'long' ? [name] : []));
    if (names.length === 0) return;
    this.#warn(
      `${names.join(', ')} of ${collection} has texts that are too long for an index: queries by it read every record.`,
    );
  }

  /** Names one value of each timestamp that is no moment in some records. */
  #warnOfDates(collection: string, records: readonly object[]): void {
    for (const name of Object.keys(productServerFields)) {
      const value = records
        .map((record) => unreadableDateIn(record, name))
        .find((found) => found !== undefined);
      if (value === undefined || this.#dated.has(`${collection} ${name}`)) continue;
      this.#dated.add(`${collection} ${name}`);
      this.#warn(
        `${name} of ${collection} is no moment in some records, such as ${JSON.stringify(value)}: the view reads times with an offset, such as 2026-01-31T12:00:00Z. Such a value is null there, and sync_status counts these records in unreadable_dates.`,
      );
    }
  }

  /** The fields that documentation and schema name. */
  #declared(collection: string): ReadonlyMap<string, FieldKind | undefined> {
    const documented = documentedFields(collection);
    const declared = new Map<string, FieldKind | undefined>(Object.entries(documented));
    for (const [name, kind] of Object.entries(this.#context.fieldsOf(collection))) {
      const usual = declared.get(name) ?? COMMON_FIELDS.get(name);
      // The documentation may know more: an amount is a string, and what a transform returns is unknown.
      const isUsual = usual && (kind === undefined || fieldKinds[usual].json === fieldKinds[kind].json);
      declared.set(name, isUsual ? usual : kind);
    }
    return declared;
  }

  async #readOne(collection: string): Promise<Fields> {
    await this.#read([collection]);
    return this.#fields.get(collection) as Fields;
  }

  /** Reads the fields of collections, and what has the names of their views. */
  async #read(collections: readonly string[], ...more: readonly string[]): Promise<void> {
    const { sql, objectsNamed } = this.#engine;
    for (const collection of collections) this.#fields.set(collection, new Map());
    for (const row of await this.#engine.query(sql.fields, [JSON.stringify(collections)])) {
      const { collection, name, kind } = row as { collection: string; name: string; kind: ColumnKind | null };
      this.#fields.get(collection)?.set(name, kind ?? undefined);
    }
    const views = [...more, ...collections.map(viewName)];
    for (const view of views) this.#objects.delete(view);
    const objects = await this.#engine.query(objectsNamed, [JSON.stringify(views)]);
    for (const object of objects as readonly DatabaseObject[]) this.#objects.set(object.name, object);
  }

  /** A part of the definition of a view that shows this content. */
  #mark(content: string): string {
    return `/* accounting-data-sdk ${VERSION} for ${this.#engine.marked}${content} */`;
  }

  #isCurrent(name: string, content: string): boolean {
    return this.#objects.get(name)?.definition?.includes(this.#mark(content)) ?? false;
  }

  /** Once in a run. */
  #warn(text: string): void {
    if (!this.#warnings.has(text)) this.#context.warn(text);
    this.#warnings.add(text);
  }

  /** Throws for an object of the user under the name of a view. */
  #mayReplace(name: string): boolean {
    const { owner, marked, nameAdvice, viewPrefix } = this.#engine;
    const existing = this.#objects.get(name);
    const isOurs = new RegExp(`/\\* accounting-data-sdk \\S+ for ${marked}[: ]`);
    if (existing !== undefined && !isOurs.test(existing.definition ?? '')) {
      throw new InvalidInputError(
        'target',
        `${viewPrefix}${name} is a ${existing.kind} that was not created for ${owner}. ${nameAdvice}`,
      );
    }
    return !this.#postponed.has(name);
  }

  /** Replaces a view unless it is as it should be. */
  async #replace(name: string, content: string, select: string): Promise<void> {
    if (this.#isCurrent(name, content)) return;
    try {
      await this.#engine.replaceView(this.#engine.sql.view(name), select, this.#mark(content));
    } catch (error) {
      this.#postponed.add(name);
      await this.#postpone(name, `The view ${this.#engine.viewPrefix}${name} could not be replaced`, error);
    }
  }

  /** Warns of what a later run does. The records matter more. */
  async #postpone(view: string | undefined, what: string, error: unknown): Promise<void> {
    if (!this.#engine.isPostponed(error)) throw error;
    const advice = await this.#engine.advice(view, error);
    this.#warn(
      `${sentence(`${what}: ${reasonOf(error)}`)} The records are written, and the next sync tries again. ${advice}`,
    );
  }
}

/** What the definition of a view says about its columns. */
function contentOf(fields: Fields): string {
  const kinds = [...fields.values()].filter((kind) => kind !== undefined);
  const long = kinds.filter((kind) => kind === 'long').length;
  return `: ${fields.size} fields, ${kinds.length - long} typed, ${long} long`;
}

/** A longer name fits into no index. */
const MAX_NAME_LENGTH = 500;

/** What the table of fields lacks: fields, and kinds of fields. In the order of their columns. */
function newFields(
  known: Fields,
  declared: Fields,
  records: readonly object[],
  maxIndexedBytes: number,
): Fields {
  const added = new Map<string, ColumnKind | undefined>();
  const add = (name: string, kind: ColumnKind | undefined) => {
    const isKnown = known.has(name) && (known.get(name) !== undefined || kind === undefined);
    if (isKnown || name === 'id' || name.length > MAX_NAME_LENGTH) return;
    if (known.has(name) || known.size + added.size < MAX_COLUMNS) added.set(name, kind);
  };
  for (const [name, kind] of declared) add(name, kind);
  for (const record of records) {
    for (const [name, value] of Object.entries(record)) {
      if (!known.has(name) && !added.has(name)) add(name, COMMON_FIELDS.get(name));
      const isField = known.has(name) || added.has(name);
      if (isField && isLong(value, maxIndexedBytes) && isReference(name, added.get(name) ?? known.get(name)))
        added.set(name, 'long');
    }
  }
  return added;
}

/** Whether a value may be a longer text than an index takes. PostgreSQL writes blanks into JSON. */
function isLong(value: unknown, maxBytes: number): boolean {
  if (typeof value === 'string') return value.length * 3 > maxBytes && bytesOf(value) > maxBytes;
  return typeof value === 'object' && value !== null && bytesOf(JSON.stringify(value)) * 2 > maxBytes;
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
