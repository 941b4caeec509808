import type { AnyAccountingError, ProductFields } from 'accounting-data-sdk';
import { columns } from './columns.ts';

/** What a person can do about an error, in the words of the file. */
export function explain(error: AnyAccountingError, fields: ProductFields): string[] {
  // A service may refuse a product without saying which field it dislikes: then its own words are all there is.
  if (error.code === 'validation_failed' && error.violations.length > 0) {
    return error.violations.map(({ propertyPath, message }) => {
      const column = columns.find(({ field }) => field === propertyPath);
      if (column === undefined) return `${propertyPath}: ${message}`;
      return `column ${column.header}: ${message} It is ${JSON.stringify(fields[column.field] ?? '')}.`;
    });
  }
  if (error.code === 'not_found') {
    return ['was deleted in the books while this run was under way; run again to create it anew'];
  }
  if (error.outcome === 'unknown' || error.outcome === 'applied') {
    return [error.message, 'It may have been done. Run again: that goes on safely.'];
  }
  return [error.message];
}

/** Errors that every other row would meet as well. */
const FATAL: ReadonlySet<string> = new Set([
  'unauthenticated',
  'scope_required',
  'redirected',
  'idempotency_key_required',
]);

/** Errors that a row may have by itself, but not one row after the other. */
const UNREACHABLE: ReadonlySet<string> = new Set(['connection_failed', 'timeout', 'rate_limited']);
const MOST_UNREACHABLE = 3;

/** Says when it is of no use to go on. */
export class Breaker {
  #inARow = 0;
  /** Why to stop; undefined while there is no reason to. */
  reason: string | undefined;

  succeeded(): void {
    this.#inARow = 0;
  }

  failed(error: AnyAccountingError): void {
    this.#inARow = UNREACHABLE.has(error.code) ? this.#inARow + 1 : 0;
    if (FATAL.has(error.code) || this.#inARow >= MOST_UNREACHABLE) this.reason ??= error.message;
  }
}
