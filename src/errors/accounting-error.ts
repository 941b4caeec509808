import { isError } from '../internal/realm.ts';
import { oneLine, sentence } from '../internal/text.ts';

/** What the service may have done with the whole call, all its attempts together. */
export type CallOutcome =
  /** No byte of the request left this process. */
  | 'not_sent'
  /** The service rejected it, and no earlier attempt ended in another way. */
  | 'rejected'
  /** A 2xx arrived whose content could not be read: the service has applied it. */
  | 'applied'
  /** At least one attempt ended without showing whether the service applied it. */
  | 'unknown';

/** What is known of a call when it fails. */
export interface CallFacts {
  /** The HTTP method; `undefined` if no request was involved. */
  readonly method?: string | undefined;
  /** The path without base URL and query; `undefined` if no request was involved. */
  readonly path?: string | undefined;
  /** The page or the bounds of ids that a list requested, such as `id[gt]=100`: for the message. */
  readonly query?: string | undefined;
  /** Attempts made, retries included. */
  readonly attempts?: number | undefined;
  /** The key under which a create can be repeated without a second record. */
  readonly idempotencyKey?: string | undefined;
  readonly outcome?: CallOutcome | undefined;
  /** Of a 404: whether the client has found a record with such an id. */
  readonly formWasFound?: boolean | undefined;
  /** Whether the same call may succeed later, unchanged. */
  readonly retryable?: boolean | undefined;
  /** What to do about it: becomes the end of the message. */
  readonly hint?: string | undefined;
}

/** The request that failed, as messages name it. The query of a first page says nothing. */
export function requestOf({ method, path, query = '' }: CallFacts): string {
  return `${method} ${path}${query === '' || /^\w+=1$/.test(query) ? '' : `?${query}`}`;
}

/** Whether the request was about one record, and not about a collection. */
export function isOneRecord({ path = '' }: CallFacts): boolean {
  return path.split('/').length > 2;
}

const BRAND = Symbol.for('accounting-data-sdk.error');
const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom');

/**
 * The base of what a client, `sync`, `push`, a store and a target throw, except an abort, which rejects with the signal's own
 * reason. The sandbox throws TypeErrors.
 * Match by `code`, by `instanceof` or with `isAccountingError`: all three work across two installed copies.
 */
export abstract class AccountingError extends Error {
  /** The names by which `instanceof` knows a class in another copy of the package. */
  static readonly brand: string = 'AccountingError';

  /** The discriminant: one literal for each class. */
  abstract readonly code: string;
  /** Whether the same call may succeed later, unchanged. */
  readonly retryable: boolean;
  /** The HTTP method; `undefined` if no request was involved. */
  readonly method: string | undefined;
  /** The path without base URL and query. */
  readonly path: string | undefined;
  /** Attempts made, retries included; of a sync or a push, by all of its calls. 0 if nothing was sent. */
  readonly attempts: number;
  /** The key under which a create can be repeated without a second record. */
  readonly idempotencyKey: string | undefined;
  /** What the service may have done, over all attempts of the call; of a sync or a push, over all of its calls. */
  readonly outcome: CallOutcome;
  /** What to do about it: the end of the message. `undefined` if the message says no more than what happened. */
  readonly hint: string | undefined;
  /** Where a list can be resumed, if its pagination has such a point. */
  resumeToken?: string | undefined;

  constructor(message: string, facts: CallFacts = {}, options?: ErrorOptions) {
    super([message, facts.hint].filter(Boolean).join(' '), options);
    const brands: string[] = [];
    for (
      let type = new.target as unknown as BrandedClass;
      type.brand !== undefined;
      type = Object.getPrototypeOf(type)
    ) {
      if (Object.hasOwn(type, 'brand')) brands.push(type.brand);
    }
    Object.defineProperty(this, BRAND, { value: brands });
    Object.defineProperty(this, 'name', { value: brands[0], configurable: true, writable: true });
    this.retryable = facts.retryable ?? false;
    this.hint = facts.hint || undefined;
    this.method = facts.method;
    this.path = facts.path;
    this.attempts = facts.attempts ?? 0;
    this.idempotencyKey = facts.idempotencyKey;
    this.outcome = facts.outcome ?? 'not_sent';
  }

  /** Knows an error of the same class in another installed copy, by its brand. */
  static override [Symbol.hasInstance](
    this: { readonly brand: string | undefined },
    value: unknown,
  ): boolean {
    // A caller's own subclass has no brand of its own: only its real instances are meant.
    if (!Object.hasOwn(this, 'brand')) return Function.prototype[Symbol.hasInstance].call(this, value);
    if (typeof value !== 'object' || value === null) return false;

    const brands = (value as { [BRAND]?: unknown })[BRAND];
    return Array.isArray(brands) && brands.includes(this.brand);
  }

  /** The fields that are safe to log: no header, no request body; of a cause its name, message and code. */
  toJSON(): Record<string, unknown> {
    const { name, message, ...fields } = { ...this, name: this.name, message: this.message };
    return this.cause === undefined
      ? { name, message, ...fields }
      : { name, message, ...fields, cause: printedCause(this.cause) };
  }

  /** What `console.log` shows: the stack, and the fields that are safe to log. */
  [INSPECT](_depth: number, options: object, inspect?: (value: unknown, options: object) => string): string {
    const { name: _name, message: _message, ...fields } = this.toJSON();
    // At the default depth of `console.log`, the collections and causes of a report would be left out.
    const shownWith = 'report' in fields ? { ...options, depth: 10 } : options;
    const shown = inspect === undefined ? JSON.stringify(fields) : inspect(fields, shownWith);
    return `${this.stack ?? `${this.name}: ${this.message}`} ${shown}`;
  }
}

/** Why a run stopped, as one line with a punctuation mark at its end: what happened, without what to do about it. */
export function reasonOf(cause: unknown): string {
  const printed = printedCause(cause);
  const message = typeof printed === 'string' ? printed : printed.message || printed.name;
  const hint = cause instanceof AccountingError ? (cause.hint ?? '') : '';
  const line = oneLine(message.slice(0, message.length - hint.length));
  return line.length > 500 ? `${line.slice(0, 500)}…` : sentence(line);
}

interface BrandedClass {
  readonly brand: string | undefined;
}

/** Makes `instanceof` know an error by one more class, in every copy of the package. */
export function addBrand(error: AccountingError, brand: string): void {
  (error as unknown as { [BRAND]: string[] })[BRAND].push(brand);
}

/** Whether a value was thrown by this package, whichever installed copy of it. */
export function isBranded(value: unknown): value is AccountingError {
  return typeof value === 'object' && value !== null && BRAND in value;
}

/** What is printed of a cause: enough to find it, and nothing that its author did not put into its message. */
type PrintedCause = string | { name: string; message: string; code?: string | number; cause?: PrintedCause };

/** A cause for logs and JSON: name, message and code, and those of its own cause; four levels at most. */
export function printedCause(cause: unknown, depth = 1): PrintedCause {
  if (!isError(cause))
    return typeof cause === 'string' ? cause : `a thrown ${cause === null ? 'null' : typeof cause}`;

  const { name, message, code } = cause as Error & { code?: unknown };
  const isCode = typeof code === 'string' || typeof code === 'number';
  const hasCause = cause.cause !== undefined && depth < 4;
  return {
    name,
    message,
    ...(isCode ? { code } : {}),
    ...(hasCause ? { cause: printedCause(cause.cause, depth + 1) } : {}),
  };
}

/**
 * What the service may have done with a write; undefined if it did nothing, and for a GET, which changes nothing.
 * `mustLook`: a create got a 2xx, so sending it again could create a second record.
 */
export function outcomeAdvice(
  { method, outcome, idempotencyKey }: CallFacts,
  mustLook = false,
): string | undefined {
  if (method === 'GET' || (outcome !== 'unknown' && outcome !== 'applied')) return undefined;
  const done = outcome === 'applied' ? 'has applied it' : 'may have applied it';
  const again = mustLook
    ? ': look for the record before you repeat it'
    : ': repeat it only under the same idempotencyKey';
  const repeat = idempotencyKey === undefined ? '' : again;
  return `The service ${done} (outcome: ${outcome})${repeat}.`;
}
