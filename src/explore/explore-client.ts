import { type CollectionName, collectionNames } from '../collections/index.ts';
import type { RawRequest } from '../collections/raw-request.ts';
import { is, option } from '../internal/options.ts';
import type { ListParameters } from '../pagination/list-options.ts';
import { isCollection, runSource } from '../reading/source.ts';
import type { RateLimit } from '../schemas/rate-limit.ts';
import type { RequestOptions } from '../transport/call-options.ts';

/** What these functions need of a client. Every client of this package fits, whatever its schemas. */
export type ExploreClient = {
  /** Sends any request under `/api/public/v1`. */
  request<T = unknown>(request: RawRequest<T>, options?: RequestOptions): Promise<T>;
  /** The quota of the key as the last response reported it. */
  readonly rateLimit: RateLimit | undefined;
} & {
  readonly [Name in CollectionName]: {
    /** The path segment, such as `account-addresses`. */
    readonly segment: string;
    /** Where the service is, `/api/public/v1` included. */
    readonly baseUrl: string;
  };
};

/** What a client sends with each list, and how it names the number of a page. */
export interface ListSettings {
  readonly parameters: ListParameters;
  readonly pageParameter: string;
}

export function listSettings({ accounts }: ExploreClient): ListSettings {
  return isCollection(accounts) ? runSource(accounts) : { parameters: {}, pageParameter: '_page' };
}

/** How far a function of this entry is. */
export interface ExploreProgress {
  /** Requests sent so far. */
  readonly requests: number;
  /** The collection that is being read; undefined while it does something else. */
  readonly collection: CollectionName | undefined;
  /** Collections that are done. */
  readonly done: number;
  readonly of: number;
}

export const someCollections = option(
  is.check<readonly CollectionName[]>(
    `an array of some of ${collectionNames.join(', ')}`,
    (names) =>
      Array.isArray(names) && names.length > 0 && names.every((name) => collectionNames.includes(name)),
  ),
  collectionNames,
);

const COMMON_TO_ALL = new Set([
  'unauthenticated',
  'connection_failed',
  'timeout',
  'redirected',
  'invalid_input',
]);

/** Whether every other collection would fail with the same error: then stop at the first one. */
export function failsEverywhere(code: string): boolean {
  return COMMON_TO_ALL.has(code);
}
