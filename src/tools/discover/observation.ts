import { isRow } from '../list-body.ts';
import type { FieldShape, Kind, Shape } from './shape.ts';
import { unionOf } from './shape.ts';
import { countText, noTexts, textKindOf } from './text-kind.ts';

/** Distinct texts that are remembered of a field: enough to tell a small set, and to look some ids up. */
const REMEMBERED = 200;

/** The values of one field, one after another, and what they come to. */
export class Observation {
  readonly #name: string;
  readonly #texts = noTexts();
  readonly #values = new Map<string, number>();
  #present = 0;
  #nulls = 0;
  #booleans = 0;
  #integers = 0;
  #numbers = 0;
  #arrays = 0;
  #objects = 0;
  #items: Observation | undefined;
  #members: Observations | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  /** How many records have the field. */
  get present(): number {
    return this.#present;
  }

  get nulls(): number {
    return this.#nulls;
  }

  /** Distinct texts with how often each came; undefined where there were too many to remember. */
  get values(): ReadonlyMap<string, number> | undefined {
    return this.#values.size < REMEMBERED ? this.#values : undefined;
  }

  /** The first distinct texts. */
  get someValues(): readonly string[] {
    return [...this.#values.keys()];
  }

  /** Digits after the point that every amount has; undefined where they differ. */
  get digits(): number | undefined {
    const digits = [...this.#texts.decimals.keys()];
    return digits.length === 1 ? digits[0] : undefined;
  }

  /** The observations of members, where values are objects or arrays of them. */
  get members(): Observations | undefined {
    return this.#members ?? this.#items?.members;
  }

  see(value: unknown): void {
    this.#present += 1;
    if (value === null || value === undefined) this.#nulls += 1;
    else if (typeof value === 'string') this.#seeText(value);
    else if (typeof value === 'boolean') this.#booleans += 1;
    else if (typeof value === 'number') {
      if (Number.isInteger(value)) this.#integers += 1;
      else this.#numbers += 1;
    } else if (Array.isArray(value)) {
      this.#arrays += 1;
      this.#items ??= new Observation(this.#name);
      for (const item of value) this.#items.see(item);
    } else if (isRow(value)) {
      this.#objects += 1;
      this.#members ??= new Observations();
      this.#members.see(value);
    }
  }

  /** The shape of the field in so many records. */
  shape(records: number): FieldShape {
    return { ...this.#shape(), always: this.#present === records };
  }

  #shape(): Shape {
    const seen: readonly (readonly [Kind, number])[] = [
      ['boolean', this.#booleans],
      ['integer', this.#integers],
      ['number', this.#numbers],
      ['array', this.#arrays],
      ['object', this.#objects],
    ];
    const text = textKindOf(this.#texts, this.#name);
    const kinds = seen.filter(([, count]) => count > 0).map(([kind]) => kind);
    return {
      kinds: unionOf(text === undefined ? kinds : [...kinds, text]),
      nullable: this.#nulls > 0,
      ...(this.#arrays > 0 ? { items: this.#items?.shape(0) ?? { kinds: [], nullable: false } } : {}),
      ...(this.#members === undefined ? {} : { fields: this.#members.shapes() }),
    };
  }

  #seeText(text: string): void {
    countText(this.#texts, text);
    const before = this.#values.get(text);
    if (before !== undefined || this.#values.size < REMEMBERED) this.#values.set(text, (before ?? 0) + 1);
  }
}

/** The fields of records of one kind. */
export class Observations {
  readonly #fields = new Map<string, Observation>();
  #records = 0;

  get records(): number {
    return this.#records;
  }

  /** By name, in the order in which the fields first came. */
  get fields(): ReadonlyMap<string, Observation> {
    return this.#fields;
  }

  see(record: Readonly<Record<string, unknown>>): void {
    this.#records += 1;
    for (const [name, value] of Object.entries(record)) {
      // Nobody's field: a schema that named it would set a prototype, and the client drops it.
      if (name === '__proto__') continue;
      const field = this.#fields.get(name) ?? new Observation(name);
      this.#fields.set(name, field);
      field.see(value);
    }
  }

  shapes(): Record<string, FieldShape> {
    return Object.fromEntries([...this.#fields].map(([name, field]) => [name, field.shape(this.#records)]));
  }
}
