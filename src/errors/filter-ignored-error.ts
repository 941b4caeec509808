import { AccountingError } from './accounting-error.ts';

/** A row outside the requested bound, or the same page again: the service ignored a filter. The list ends, because it would not know when it is complete. */
export class FilterIgnoredError extends AccountingError {
  static override readonly brand: string = 'FilterIgnoredError';
  override readonly code = 'filter_ignored';
}
