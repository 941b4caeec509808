import { AccountingError } from './accounting-error.ts';

/** A checkpoint or resume token is damaged or belongs to another scope, or the store failed. The package never restarts from the beginning instead. */
export class CheckpointError extends AccountingError {
  static override readonly brand: string = 'CheckpointError';
  override readonly code = 'checkpoint';
}
