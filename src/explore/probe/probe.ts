import type { CollectionName } from '../../collections/index.ts';
import { resolved } from '../../input/checks.ts';
import { group, is, type Named, type OptionInputs, optional } from '../../internal/options.ts';
import { type ExploreClient, type ExploreProgress, someCollections } from '../explore-client.ts';
import { adviceOf } from './advice.ts';
import {
  EACH_COLLECTION_REQUESTS,
  largestFirst,
  ONE_COLLECTION_REQUESTS,
  probeCollection,
} from './collection.ts';
import { profileObject, profileOf } from './profile.ts';
import type { CollectionFindings, ProbeReport } from './report.ts';
import { ProbeSession } from './session.ts';
import { nothingWritten, ONLY_WRITING, probeWrites, WRITE_REQUESTS } from './writes.ts';

/** How many requests a probe will send. The client's retries come on top. */
export interface ProbePlan {
  readonly collections: readonly CollectionName[];
  /** However the service responds. */
  readonly atMost: number;
  /** Whether the probe creates, updates and deletes a product. */
  readonly writes: boolean;
}

export const probeOptions = {
  /** The collections to read. Default: all fourteen. */
  collections: someCollections,
  /**
   * Also creates a product, updates it and deletes it: only that shows how the service responds to writes. `draft` adds
   * fields that the service requires. Default: false, and every request is a GET.
   */
  write: { ...group({ draft: optional(is.object) }, true, false), default: false },
  /** Stops the probe: it rejects with the signal's reason. It still deletes a product that it created. */
  signal: optional(is.signal),
  /** Called before the first request. If it throws, no request is sent. */
  onPlan: optional(is.callback<(plan: ProbePlan) => void>()),
  /** Called after each request. */
  onProgress: optional(is.callback<(progress: ExploreProgress) => void>()),
  /** Called with products that could not be deleted if a probe is stopped; otherwise the report names them. */
  onLeftBehind: optional(is.callback<(ids: readonly string[]) => void>()),
};

/** Options of {@link probe}. */
export interface ProbeOptions extends OptionInputs<typeof probeOptions>, Named {}

/**
 * Finds out what the API documentation leaves open: page size, order, filters, ids, quota, the form of errors. It sends
 * some 200 small requests, one at a time, under the client's rate limiter. What cannot be seen from outside is reported
 * as unknown, never guessed.
 *
 * ```ts
 * const report = await probe(createClient(), { onPlan: ({ atMost }) => console.log(`at most ${atMost} requests`) });
 * const client = createClient({ ...report.client });
 * const sandbox = createSandbox({ ...report.sandbox }); // behaves as the service does
 * ```
 * @throws InvalidInputError for invalid options. If the first list fails in a way that every list would: ConnectionError,
 * TimeoutError, RedirectError, UnauthenticatedError.
 */
export async function probe(client: ExploreClient, options: ProbeOptions = {}): Promise<ProbeReport> {
  const given = resolved(probeOptions, options, { of: 'probe' });
  const { write, signal, onPlan, onProgress, onLeftBehind } = given;
  const { draft = {} } = typeof write === 'object' ? write : {};
  const names = [...new Set(given.collections)];
  signal?.throwIfAborted();
  const toRead = names.length * EACH_COLLECTION_REQUESTS + ONE_COLLECTION_REQUESTS;
  const writing = write !== false;
  onPlan?.({ collections: names, atMost: toRead + (writing ? WRITE_REQUESTS : 0), writes: writing });

  const collections: CollectionFindings[] = [];
  let current: CollectionName | undefined;
  const session = new ProbeSession(client, signal, () => {
    const done = collections.length;
    onProgress?.({ requests: session.requests, collection: current, done, of: names.length });
  });
  for (const name of await largestFirst(session, names)) {
    current = name;
    collections.push(await probeCollection(session, name, collections));
  }
  current = undefined;
  collections.sort((a, b) => names.indexOf(a.collection) - names.indexOf(b.collection));
  const writes =
    write === false
      ? nothingWritten(ONLY_WRITING)
      : await probeWrites(session, { draft, signal, onLeftBehind });
  const { requests, quota } = session;
  const findings = { collections, problems: session.problems.findings(), quota, writes };
  const profile = profileOf(findings, session);
  return {
    baseUrl: client.accounts.baseUrl,
    at: new Date().toISOString(),
    requests,
    ...findings,
    ...profileObject(profile),
    profile,
    advice: adviceOf(findings),
  };
}
