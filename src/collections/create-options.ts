import type { OptionNames } from '../internal/option-names.ts';
import { REQUEST_OPTIONS, type RequestOptions } from '../transport/call-options.ts';

/** Options of a create. */
export interface CreateOptions extends RequestOptions {
  /**
   * Names this intended create, so that repeating it creates no second record: see `idempotencyKeyFor`. Default: a
   * random key, generated before the first attempt and found on the error if the create fails.
   */
  idempotencyKey?: string | undefined;
}

export const CREATE_OPTIONS: OptionNames<CreateOptions> = { ...REQUEST_OPTIONS, idempotencyKey: true };
