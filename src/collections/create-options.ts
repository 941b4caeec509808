import { is, type OptionInputs, optional } from '../internal/options.ts';
import { requestOptions } from '../transport/call-options.ts';
import { checkIdempotencyKey } from '../transport/idempotency-key.ts';

export const createOptions = {
  ...requestOptions,
  /**
   * Names this intended create, so that repeating it creates no second record: see `idempotencyKeyFor`. Default: a
   * random key, generated before the first attempt and found on the error if the create fails.
   */
  idempotencyKey: optional(is.verified<string>(checkIdempotencyKey)),
};

/** Options of a create. */
export interface CreateOptions extends OptionInputs<typeof createOptions> {}
