import { InvalidInputError } from '../../errors/invalid-input-error.ts';
import { group, is, type Named, type OptionInputs, optional } from '../../internal/options.ts';

const limits = {
  /** After this time no request is sent, and those in flight are aborted. Default: no limit. */
  ms: optional(is.durationFrom(1)),
  /** The most requests, with retries and the lookups of deletions. Default: no limit. */
  requests: optional(is.integerFrom(1)),
};

/** When a sync pauses: at the limit that is reached first. */
export interface StopAfter extends OptionInputs<typeof limits>, Named {}

export const stopAfter = {
  ...optional(group<typeof limits, never, StopAfter>(limits)),
  verify({ ms, requests }: StopAfter, name: string) {
    if (ms === undefined && requests === undefined) {
      throw new InvalidInputError(name, 'must have ms or requests');
    }
  },
};
