import { documentedFields } from '../collections/index.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { causeText, sentence } from '../internal/text.ts';
import { VERSION } from '../internal/version.ts';
import { type FieldKind, fieldKinds } from '../schemas/field-kinds.ts';
import { productServerFields } from '../schemas/product-fields.ts';
import type { TargetContext } from '../sync/target.ts';
import { type Fields, indexedFields, MAX_COLUMNS, unreadableDateIn, viewName } from './columns.ts';
import type { Engine } from './engine.ts';
import { failureKind } from './failures.ts';

/** The kinds of fields that every collection may have. */
const COMMON_FIELDS: Fields = new Map(Object.entries(productServerFields));

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
  readonly #fields = new Map<string, Map<string, FieldKind | undefined>>();
  /** What has the name of a view. */
  readonly #objects = new Map<string, DatabaseObject>();
  /** The collections whose views are as they should be, or cannot be for now. */
  readonly #shown = new Set<string>();
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
    await this.#replace(STATUS_VIEW, '', async () => this.#engine.sql.statusView);
  }

  /** Remembers the fields of a collection, and gives its view a column for each. */
  async show(collection: string, records: readonly object[]): Promise<void> {
    const declared = this.#declared(collection);
    const known = this.#fields.get(collection) ?? (await this.#readOne(collection));
    const added = newFields(known, declared, records);
    this.#warnOfDates(collection, records);
    if (added.size === 0 && this.#shown.has(collection)) return;

    if (added.size > 0) {
      const list = JSON.stringify([...added].map(([name, kind]) => [name, kind ?? null]));
      await this.#engine.query(this.#engine.sql.addFields, [collection, list]);
    }
    const view = viewName(collection);
    const isCurrent = added.size === 0 && this.#isCurrent(view, contentOf(known));
    // Another process may have added fields too.
    const fields = isCurrent ? known : await this.#readOne(collection);
    for (const [name, kind] of declared) {
      const stored = fields.get(name);
      if (stored === undefined || kind === undefined || stored === kind) continue;
      this.#warn(
        `${name} of ${collection} is ${kind} in the schema of this client, but has a column of kind ${stored} in the copy: the first schema that names a field decides. Values of another type are null in the view.`,
      );
    }
    await this.#replace(view, contentOf(fields), async () => {
      const indexed = await this.#engine.index(indexedFields(fields));
      return this.#engine.sql.recordView(collection, fields, indexed);
    });
    this.#shown.add(collection);
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
  #declared(collection: string): Fields {
    const documented = documentedFields(collection);
    const declared = new Map<string, FieldKind | undefined>(Object.entries(documented));
    for (const [name, kind] of Object.entries(this.#context.fieldsOf(collection))) {
      const known = declared.get(name) ?? COMMON_FIELDS.get(name);
      // The documentation may know more: an amount is a string, and what a transform returns is unknown.
      const isKnown = known && (kind === undefined || fieldKinds[known].json === fieldKinds[kind].json);
      declared.set(name, isKnown ? known : kind);
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
      const { collection, name, kind } = row as { collection: string; name: string; kind: FieldKind | null };
      this.#fields.get(collection)?.set(name, kind ?? undefined);
    }
    const views = [...more, ...collections.map(viewName)];
    for (const view of views) this.#objects.delete(view);
    const objects = await this.#engine.query(objectsNamed, [JSON.stringify(views)]);
    for (const object of objects as readonly DatabaseObject[]) this.#objects.set(object.name, object);
  }

  /** A part of the definition of a view that shows this content. */
  #mark(content: string): string {
    return `/* accounting-data-sdk ${VERSION} for ${this.#engine.owner}${content} */`;
  }

  #isCurrent(name: string, content: string): boolean {
    return this.#objects.get(name)?.definition?.includes(this.#mark(content)) ?? false;
  }

  /** Once in a run. */
  #warn(text: string): void {
    if (!this.#warnings.has(text)) this.#context.warn(text);
    this.#warnings.add(text);
  }

  /** Replaces a view unless it is as it should be. What cannot be replaced is a warning: the records matter more. */
  async #replace(name: string, content: string, select: () => Promise<string>): Promise<void> {
    if (this.#isCurrent(name, content)) return;
    const { sql, owner, nameAdvice } = this.#engine;
    const existing = this.#objects.get(name);
    const isOurs = new RegExp(`/\\* accounting-data-sdk \\S+ for ${owner}[: ]`);
    if (existing !== undefined && !isOurs.test(existing.definition ?? '')) {
      throw new InvalidInputError(
        'target',
        `${name} is a ${existing.kind} that was not created for ${owner}. ${nameAdvice}`,
      );
    }
    const [view, mark] = [sql.view(name), this.#mark(content)];
    try {
      await this.#engine.replaceView(view, await select(), mark);
    } catch (error) {
      if (failureKind(error) !== 'never') throw error;
      this.#warn(
        `${sentence(`The view ${name} could not be replaced: ${causeText(error)}`)} The records are written, and the next sync tries again. ${this.#engine.viewAdvice(view, error)}`,
      );
    }
  }
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
      if (!known.has(name) && !added.has(name)) add(name, COMMON_FIELDS.get(name));
    }
  }
  return added;
}
