import { AccountingError } from './accounting-error.ts';

/** A row outside the bound that was asked for, or the same page twice: the service ignored a filter. The walk ends, for it could not tell when it is complete. */
export class FilterIgnoredError extends AccountingError {
  static override readonly brand: string = 'FilterIgnoredError';
  override readonly code = 'filter_ignored';
}
