import type { Entry } from './timeline/entry.ts';

/** What `GET /state` returns. */
export interface State {
  readonly version: string;
  readonly instance: string;
  readonly clock: { readonly now: string };
  readonly requests: number;
  readonly changes: number;
  readonly keys: Readonly<Record<string, Key>>;
  readonly records: Readonly<Record<Company, Readonly<Record<string, number>>>>;
  readonly faults: readonly Rule[];
  readonly quota: {
    readonly limits: false | { readonly limit: number; readonly windowMs: number };
    /** Whether the options say something else. */
    readonly isChanged: boolean;
  };
  readonly options: Readonly<Record<string, unknown>>;
}

export type Company = 'main' | 'other';

export interface Key {
  readonly key: string;
  readonly company: Company;
  readonly access: string;
  readonly collections: readonly string[] | null;
  readonly isRevoked: boolean;
  readonly quota: { readonly limit: number; readonly remaining: number } | null;
}

export type Json = Readonly<Record<string, unknown>>;

/** A fault with its conditions. `rule` is what a POST adds again. */
export interface Rule {
  readonly id: number;
  readonly active: boolean;
  readonly hits: number;
  readonly rule: Json;
}

/** What a value may be. */
export interface Check {
  readonly expected: string;
  readonly values?: readonly unknown[];
}

/** What `GET /faults` says about what can be added. */
export interface Tables {
  readonly kinds: Readonly<Record<string, { readonly required: Checks; readonly optional: Checks }>>;
  readonly conditions: Checks;
}

export type Checks = Readonly<Record<string, Check>>;

export interface OptionRow extends Check {
  readonly name: string;
  readonly value: unknown;
  readonly default: unknown;
}

/** A change of a record. */
export interface Change {
  readonly action: 'create' | 'update' | 'delete';
  readonly company: Company;
  readonly collection: string;
  readonly id: string;
  readonly at: string;
  /** The name of a key, or `control`. */
  readonly key: string;
  readonly fields: readonly string[];
}

export interface RecordPage {
  readonly collection: string;
  readonly count: number;
  readonly found: number;
  readonly records: readonly (Json & { readonly id: string })[];
  readonly changes: readonly Change[];
}

/** A request with its bodies. */
export interface Request extends Entry {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** The ids of the faults that it met. */
  readonly faults: readonly number[];
  readonly body: unknown;
  readonly response: (NonNullable<Entry['response']> & { readonly body: unknown }) | null;
}

/** The control rejected a request; the message says what is wrong. */
export class Rejected extends Error {}

/** Sends a request to the control. Throws {@link Rejected}, or a TypeError if the sandbox does not respond. */
export async function control<T>(call: string, body?: Json): Promise<T> {
  const [method = 'GET', path = ''] = call.split(' ');
  const response = await fetch(`/_sandbox${path}`, {
    method,
    ...(method !== 'GET' && { headers: { 'Content-Type': 'application/json' } }),
    ...(body !== undefined && { body: jsonText(body) }),
  });
  const text = await response.text();
  const value = (text === '' ? {} : parseExactly(text)) as T;
  if (response.ok) return value;
  throw new Rejected(String((value as Json).detail ?? response.status));
}

/** A number whose digits a JavaScript number would change. */
export class ExactNumber {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }
}

/** Parses JSON, and keeps the digits of numbers if the browser says what they were. */
export function parseExactly(text: string): unknown {
  const revive = (_: string, value: unknown, context?: { readonly source?: string }) => {
    const source = typeof value === 'number' ? context?.source : undefined;
    return source === undefined || String(value) === source ? value : new ExactNumber(source);
  };
  return JSON.parse(text, revive);
}

/** JSON in one line, with the digits of numbers as they were. */
export function jsonText(value: unknown): string {
  if (value instanceof ExactNumber) return value.digits;
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, inner]) => `${JSON.stringify(name)}:${jsonText(inner)}`)
    .join(',')}}`;
}
