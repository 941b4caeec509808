import type { CollectionName } from '../../collections/index.ts';
import type { ServiceRequest } from '../service/message.ts';

/** Which requests a fault meets, and how often. Conditions that are left out hold for every request. */
export interface FaultMatch {
  /** In upper case. */
  readonly method?: string | undefined;
  /** The whole path without query, such as `/api/public/v1/products`, or a pattern. */
  readonly path?: string | RegExp | undefined;
  readonly collection?: CollectionName | undefined;
  /** Any other condition. */
  readonly when?: ((request: ServiceRequest) => boolean) | undefined;
  /** Requests that match and are let through first. @default 0 */
  readonly skip?: number | undefined;
  /** How many requests it meets. @default 1, with a probability Infinity */
  readonly times?: number | undefined;
  /** The chance that a request that matches is met, drawn from the sandbox's seed. @default 1 */
  readonly probability?: number | undefined;
}

/** The names of {@link FaultMatch}. */
export const CONDITIONS = [
  'method',
  'path',
  'collection',
  'when',
  'skip',
  'times',
  'probability',
] as const satisfies readonly (keyof FaultMatch)[];
