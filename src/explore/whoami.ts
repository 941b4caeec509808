import { type CollectionName, collectionNames } from '../collections/index.ts';
import { isApiError } from '../errors/guards.ts';
import { resolved } from '../input/checks.ts';
import { is, type Named, type OptionInputs, optional } from '../internal/options.ts';
import type { RateLimit } from '../schemas/rate-limit.ts';
import type { ResponseMeta } from '../transport/call-options.ts';
import { type ExploreClient, type ExploreProgress, listSettings } from './explore-client.ts';
import { readListBody } from './rows.ts';

export const whoamiOptions = {
  /** Stops it: it rejects with the signal's reason. */
  signal: optional(is.signal),
  /** Called before each request. */
  onProgress: optional(is.callback<(progress: ExploreProgress) => void>()),
};

/** Options of {@link whoami}. */
export interface WhoamiOptions extends OptionInputs<typeof whoamiOptions>, Named {}

/** What an API key may read. Plain JSON. */
export interface WhoamiReport {
  /** Where the service is, `/api/public/v1` included. */
  readonly baseUrl: string;
  /** For each collection `readable`, or the code of the error that its list returned, such as `scope_required`. */
  readonly collections: readonly { readonly collection: CollectionName; readonly access: string }[];
  /** The quota of the key after the last request; undefined if the service does not report it. */
  readonly quota: RateLimit | undefined;
}

/**
 * Finds out what the API key of a client may read, with one small request for each collection.
 *
 * ```ts
 * const { collections } = await whoami(createClient());
 * const readable = collections.filter(({ access }) => access === 'readable');
 * ```
 * @throws UnauthenticatedError if the key is not valid at all; what any call throws if the service does not respond.
 */
export async function whoami(client: ExploreClient, options: WhoamiOptions = {}): Promise<WhoamiReport> {
  const { signal, onProgress } = resolved(whoamiOptions, options, { of: 'whoami' });
  const found: { collection: CollectionName; access: string }[] = [];
  let requests = 0;
  for (const collection of collectionNames) {
    onProgress?.({ requests, collection, done: found.length, of: collectionNames.length });
    const { access, attempts } = await accessTo(client, collection, signal);
    requests += attempts;
    found.push({ collection, access });
  }
  return { baseUrl: client.accounts.baseUrl, collections: found, quota: client.rateLimit };
}

async function accessTo(
  client: ExploreClient,
  collection: CollectionName,
  signal: AbortSignal | undefined,
): Promise<{ readonly access: string; readonly attempts: number }> {
  const query = listSettings(client).parameters;
  let attempts = 0;
  const onResponse = (meta: ResponseMeta) => {
    ({ attempts } = meta);
  };
  try {
    const body = await client.request({ path: [client[collection].segment], query }, { signal, onResponse });
    return { access: readListBody(body) === undefined ? 'unexpected_response' : 'readable', attempts };
  } catch (error) {
    signal?.throwIfAborted();
    if (!isApiError(error) || isApiError(error, 'unauthenticated')) throw error;
    return { access: error.code, attempts: error.attempts };
  }
}
