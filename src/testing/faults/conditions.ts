import type { CollectionName } from '../../collections/index.ts';
import type { Named } from '../../internal/options.ts';
import { API_PATH } from '../../schemas/service-forms.ts';
import { is } from '../checks.ts';
import type { ServiceRequest } from '../message.ts';
import type { FieldValues } from './define-fault.ts';

/** The conditions under which a request meets a fault. */
export const faultConditions = {
  /** The method of the request, such as `POST`. */
  method: is.string,
  /** The whole path without query, such as `/api/public/v1/products`, or a pattern. */
  path: is.check<string | RegExp>(
    `a pattern, or a whole path without query that begins with ${API_PATH}/`,
    (value) =>
      value instanceof RegExp ||
      (typeof value === 'string' && value.startsWith(`${API_PATH}/`) && !/[?#]/.test(value)),
  ),
  /** The collection of the request. */
  collection: is.check<CollectionName>('the name of a collection', (value) => typeof value === 'string'),
  /** Any other condition. */
  when: is.check<(request: ServiceRequest) => boolean>('a function', (value) => typeof value === 'function'),
  /** How many matching requests do not meet the fault at first. @default 0 */
  skip: is.integerFrom(0),
  /** How many requests meet the fault. @default Infinity */
  times: is.check<number>(
    'a whole number of at least 1, or Infinity',
    (value) => value === Infinity || is.integerFrom(1).allows(value),
  ),
  /** How long requests can meet the fault, in ms. @default until the rule is removed */
  forMs: is.durationFrom(0),
  /** The probability that a matching request meets the fault, drawn from the sandbox's seed. @default 1 */
  probability: is.fraction,
};

/** Which requests meet a fault, and how often. A condition that is left out holds for every request. */
export interface FaultMatch extends FieldValues<Record<never, never>, typeof faultConditions>, Named {}
