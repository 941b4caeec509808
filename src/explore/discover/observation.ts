import { checks, type FieldKind, type FieldKindFacts, fieldKinds } from '../../schemas/field-kinds.ts';
import { isMoney } from '../../schemas/money.ts';
import type { FieldTable } from '../../schemas/record.ts';
import { isTimestamp } from '../../schemas/timestamp.ts';
import { isNamedLikeMoney, isNamedUnlikeMoney } from '../names.ts';
import type { FieldShape, Kind, Shape } from './shape.ts';

/** Distinct strings that are kept of a field: enough to see a small set, and to find some ids. */
const MAX_STRINGS = 200;

/** Levels of a field that are seen: the compiler cannot infer the type of ten objects in each other. */
const MAX_LEVELS = 8;

/** What the values of one field have in common. */
export class Observation {
  /** How many records have the field. */
  present = 0;
  nulls = 0;
  /** The elements of arrays. */
  items: Observation | undefined;
  objects: Observations | undefined;
  readonly #name: string;
  /** How deep it lies in a field of a record: 1 is the field itself. */
  readonly #level: number;
  readonly #documented: FieldKind | undefined;
  readonly #kinds = new Set<Kind>();
  /** Strings by their form, and decimals by their digits after the point. */
  readonly #strings = { all: 0, asDocumented: 0, dates: 0, timestamps: 0 };
  readonly #decimals = new Map<number, number>();
  readonly #values = new Map<string, number>();

  constructor(name: string, level: number, documented?: FieldKind) {
    this.#name = name;
    this.#level = level;
    this.#documented = documented;
  }

  /** Distinct strings with their counts; undefined if there were too many. */
  get values(): ReadonlyMap<string, number> | undefined {
    return this.#values.size < MAX_STRINGS ? this.#values : undefined;
  }

  /** The first distinct strings. */
  get someValues(): readonly string[] {
    return [...this.#values.keys()];
  }

  /** Digits after the point of every amount; undefined if they differ. */
  get digits(): number | undefined {
    const [digits, ...others] = this.#decimals.keys();
    return others.length === 0 ? digits : undefined;
  }

  /** The members of objects, or of objects in arrays. */
  get members(): Observations | undefined {
    return this.objects ?? this.items?.members;
  }

  add(value: unknown): void {
    this.present += 1;
    // A field may be null whatever else it is.
    if (value === null || value === undefined) {
      this.nulls += 1;
      return;
    }
    // What a string stands for follows from all strings of the field.
    if (typeof value === 'string') {
      this.#addString(value);
      return;
    }
    if (typeof value === 'boolean') {
      this.#kinds.add('boolean');
      return;
    }
    // One fraction makes a number of all.
    if (typeof value === 'number') {
      this.#kinds.add(Number.isInteger(value) ? 'integer' : 'number');
      return;
    }
    this.#kinds.add(Array.isArray(value) ? 'array' : 'object');
    // The compiler could not infer the type of what is deeper.
    if (this.#level === MAX_LEVELS) return;
    if (Array.isArray(value)) {
      this.items ??= new Observation(this.#name, this.#level + 1);
      for (const item of value) this.items.add(item);
      return;
    }
    this.objects ??= new Observations({}, this.#level + 1);
    this.objects.add(value as Readonly<Record<string, unknown>>);
  }

  /** The shape of the field, seen in the given number of records. */
  shape(records: number): FieldShape {
    return { ...this.#shape(), always: this.present === records };
  }

  #shape(): Shape {
    const kinds = new Set(this.#kinds);
    if (kinds.has('number')) kinds.delete('integer');
    if (this.#strings.all > 0) kinds.add(this.#stringKind());
    return {
      kinds: [...kinds].sort(),
      nullable: this.nulls > 0,
      ...(this.items === undefined ? {} : { items: this.items.#shape() }),
      ...(this.objects === undefined ? {} : { fields: this.objects.shapes() }),
    };
  }

  #addString(text: string): void {
    this.#strings.all += 1;
    if (this.#documented !== undefined && checks[this.#documented](text)) this.#strings.asDocumented += 1;
    if (isDecimal(text)) {
      const digits = text.split('.')[1]?.length ?? 0;
      this.#decimals.set(digits, (this.#decimals.get(digits) ?? 0) + 1);
    } else if (/^\d{4}-\d{2}-\d{2}/.test(text) && isTimestamp(text)) {
      // A local time names no moment.
      this.#strings[text.includes('T') ? 'timestamps' : 'dates'] += 1;
    }
    const count = this.#values.get(text);
    if (count !== undefined || this.#values.size < MAX_STRINGS) this.#values.set(text, (count ?? 0) + 1);
  }

  /** The narrowest kind that fits all strings. */
  #stringKind(): Kind {
    const { all, asDocumented, dates, timestamps } = this.#strings;
    const facts: FieldKindFacts | undefined = this.#documented && fieldKinds[this.#documented];
    if (this.#documented !== undefined && facts?.pattern !== undefined && asDocumented === all)
      return this.#documented;
    if (dates === all) return 'date';
    if (timestamps === all) return 'timestamp';
    return this.#documented === undefined && this.#isMoney() ? 'money' : 'string';
  }

  /**
   * Amounts have two to four digits after the point, all as many; other decimals are amounts only if the name
   * says so. A code such as `8010` is a decimal too, but not an amount.
   */
  #isMoney(): boolean {
    const decimals = [...this.#decimals.values()].reduce((sum, count) => sum + count, 0);
    if (decimals < this.#strings.all || isNamedUnlikeMoney(this.#name)) return false;

    const { digits } = this;
    if (digits !== undefined && digits >= 2 && digits <= 4) return true;
    return [...this.#decimals.keys()].some((some) => some > 0) && isNamedLikeMoney(this.#name);
  }
}

const isDecimal: (text: string) => boolean = isMoney;

/** What the records of a collection, or the objects in a field, have in common. */
export class Observations {
  records = 0;
  /** By name, in the order in which the fields first came. */
  readonly fields = new Map<string, Observation>();
  readonly #documented: FieldTable;
  readonly #level: number;

  /** `documented` are the fields of the collection that the specification shows. */
  constructor(documented: FieldTable, level = 1) {
    this.#documented = documented;
    this.#level = level;
  }

  add(record: Readonly<Record<string, unknown>>): void {
    this.records += 1;
    for (const [name, value] of Object.entries(record)) {
      // A schema with this name would set a prototype, and the client drops the field.
      if (name === '__proto__') continue;
      const documented = Object.hasOwn(this.#documented, name) ? this.#documented[name] : undefined;
      const field = this.fields.get(name) ?? new Observation(name, this.#level, documented);
      this.fields.set(name, field);
      field.add(value);
    }
  }

  shapes(): Record<string, FieldShape> {
    return Object.fromEntries([...this.fields].map(([name, field]) => [name, field.shape(this.records)]));
  }
}
