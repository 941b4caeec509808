import { checkOptionNames } from '../errors/check-input.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { SyncError } from '../errors/sync-error.ts';
import type { SyncReport } from '../errors/sync-report.ts';
import type { Batch } from './batch.ts';
import { inLevels } from './levels.ts';
import { resolveRunOptions } from './options.ts';
import type { SyncSource } from './source.ts';
import { type CollectionsIn, SYNC_OPTIONS, type SyncOptions } from './sync-types.ts';
import { TenantRun } from './tenant-run.ts';

/**
 * Brings a copy of a company's books up to date: everything the first time, then what changed.
 *
 * ```ts
 * await sync(client, { store, tenant: 'acme', onBatch: ({ collection, records }) => upsert(collection, records) });
 * ```
 * Parents are read before children, and the collections of a level take turns page by page, two requests in flight.
 * Each has a state of its own in the store and goes on where it was interrupted: a batch is committed when `onBatch`
 * has resolved. There is no deadline and no wait that is too long; `onProgress` tells of waits, `signal` stops.
 * Deletions are not seen by a sync: see {@link reconcile}.
 *
 * One run of a tenant at a time: a second one is noticed where it can be (ConcurrentRunError), not kept out.
 *
 * @throws SyncError if a collection failed, once all have ended: its `report` has the result of each, its `errors` say
 * why. A 403 concerns its collection alone (see `onForbidden`); a 401 stops them all, and so does a service that is down
 * for `maxOutageMs`. InvalidInputError for invalid options. The signal's own reason if it stopped the run.
 */
export async function sync<C extends object, Names extends CollectionsIn<C> = CollectionsIn<C>>(
  client: C,
  options: SyncOptions<C, Names>,
): Promise<SyncReport> {
  checkOptionNames(options, SYNC_OPTIONS, { of: 'sync' });
  const { onBatch, onForbidden = 'report', concurrency = 2 } = options;
  if (typeof onBatch !== 'function') throw new InvalidInputError('onBatch', 'must be a function');
  if (onForbidden !== 'report' && onForbidden !== 'fail') {
    throw new InvalidInputError('onForbidden', "must be 'report' or 'fail'");
  }
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new InvalidInputError('concurrency', 'must be a whole number of at least 1');
  }
  const sources = client as unknown as Readonly<Record<string, SyncSource<{ id: string }>>>;
  const names = collectionsOf(sources, options.collections);
  const levels = inLevels(names, sources).map((level) =>
    level.map((name) => ({ name, source: sources[name] as SyncSource<{ id: string }> })),
  );
  const tenant = new TenantRun(levels, {
    options: resolveRunOptions(options),
    onBatch: onBatch as (batch: Batch<{ id: string }>) => unknown,
    onForbidden,
    concurrency,
  });
  await tenant.run();
  const report = tenant.report();
  const failure = tenant.failure();
  if (failure !== undefined) throw new SyncError(report, failure);
  return report;
}

function collectionsOf(
  client: Readonly<Record<string, unknown>>,
  wanted: readonly string[] | undefined,
): readonly string[] {
  const isListed = (name: string) => {
    const property = Object.hasOwn(client, name) ? client[name] : undefined;
    return typeof (property as Partial<SyncSource<{ id: string }>> | null | undefined)?.list === 'function';
  };
  const stranger = wanted?.find((name) => !isListed(name));
  if (stranger !== undefined) {
    throw new InvalidInputError(
      'collections',
      `names ${JSON.stringify(stranger)}, which the client does not have`,
    );
  }
  return wanted === undefined ? Object.keys(client).filter(isListed) : [...new Set(wanted)];
}
