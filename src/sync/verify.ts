import { isForbidden } from '../errors/guards.ts';
import { checkObject, resolved } from '../input/checks.ts';
import { copyRows } from '../internal/copy-rows.ts';
import { is, type OptionInputs, optional, required } from '../internal/options.ts';
import { type ReadOptions, type ReadSettings, readOptions, readSettings } from '../reading/list-options.ts';
import { type RunSource, runSource, type SyncSource } from '../reading/source.ts';
import { decodeState, stateKey } from '../reading/state.ts';
import { readStore } from '../reading/store.ts';
import { sinceOf } from '../reading/watermark.ts';
import { isStored } from './copy-records.ts';
import { type RunOptions, runOptions } from './run-options.ts';
import { type CollectionsIn, namesOf } from './sync.ts';
import type { SyncTarget } from './target.ts';
import { type TargetWith, withTarget } from './target-run.ts';

const verifyOptions = {
  ...readOptions,
  tenant: runOptions.tenant,
  prefix: runOptions.prefix,
  lookbackMs: runOptions.lookbackMs,
  signal: runOptions.signal,
  /** The copy: `sqliteTarget` or `postgresTarget` of the entry `./targets`, or one of your own with `rows` and `localIds`. */
  target: required(is.withMethods<SyncTarget>('open')),
  collections: optional(is.strings),
};

/** Options of {@link verify}. */
export interface VerifyOptions<Names extends string = string>
  extends Pick<RunOptions, keyof ReadOptions | 'tenant' | 'prefix' | 'lookbackMs' | 'signal'>,
    Pick<OptionInputs<typeof verifyOptions>, 'target'> {
  /** The collections to compare, by the names of the client's properties. Default: every collection of the client. */
  collections?: readonly Names[] | undefined;
}

/** How the copy of one collection differs from the service. Lists of ids. */
export interface CollectionDifferences {
  /** The name of the collection, as the client's property. */
  readonly collection: string;
  /** Records of the service. */
  readonly records: number;
  /** They exist, but are not in the copy. */
  readonly missing: readonly string[];
  /** The copy has other content. */
  readonly different: readonly string[];
  /** They are in the copy, but the service does not list them. */
  readonly extra: readonly string[];
  /** Missing or different only because they changed since the last sync: no differences. */
  readonly changedSince: readonly string[];
  /** Rows without an id that can be read: no copy can have them. */
  readonly withoutId: number;
}

/** What {@link verify} found. */
export interface VerifyReport {
  readonly tenant: string;
  readonly startedAt: Date;
  readonly endedAt: Date;
  /** Whether there is no difference: `missing`, `different`, `extra` and `withoutId` of each collection are empty. */
  readonly equal: boolean;
  /** Collections that the key may not read, of which no sync has read anything: not compared. */
  readonly forbidden: readonly string[];
  readonly collections: readonly CollectionDifferences[];
}

/**
 * Proves that a copy equals the service: reads every record, compares it with the copy, and writes nothing.
 *
 * ```ts
 * const { equal, collections } = await verify(client, { tenant: 'acme', target });
 * ```
 * It uses the same client, with the same schemas, as the sync. A record that changed since the last sync is in
 * `changedSince`. Run it while no sync of the tenant runs.
 *
 * @throws What a list throws, such as ForbiddenError for a collection that the copy has and the key may not read, or if
 * it may read none; InvalidInputError if there is no copy; CheckpointError if the copy cannot be read; the signal's own reason.
 */
export async function verify<C extends object, Names extends CollectionsIn<C> = CollectionsIn<C>>(
  client: C,
  options: VerifyOptions<Names>,
): Promise<VerifyReport> {
  checkObject(client, 'client');
  const own = resolved(verifyOptions, options, { of: 'verify' });
  const sources = client as Readonly<Record<string, SyncSource<{ id: string }>>>;
  const names = namesOf(sources, own.collections);
  const { tenant, target, prefix, lookbackMs, signal } = own;
  const settings = { ...readSettings(own), signal, keepInvalid: true };
  const startedAt = new Date();
  const run = { purpose: 'verify', target, tenant, names, sources, read: settings } as const;
  return await withTarget({ ...run, needs: ['rows', 'localIds'] }, async (opened) => {
    const collections: CollectionDifferences[] = [];
    const forbidden: string[] = [];
    for (const name of names) {
      const source = runSource(sources[name] as SyncSource<{ id: string }>);
      const key = stateKey({ prefix, tenant, collection: name });
      const state = decodeState(await readStore(opened.store, key, signal), key);
      const since = state?.watermark && sinceOf(state.watermark, lookbackMs);
      try {
        collections.push(await differencesOf(opened, { name, source, settings, since }));
      } catch (error) {
        if (!isForbidden(error) || state !== undefined || forbidden.length === names.length - 1) throw error;
        forbidden.push(name);
      }
    }
    const equal = collections.every(
      ({ missing, different, extra, withoutId }) =>
        missing.length + different.length + extra.length + withoutId === 0,
    );
    return { tenant, startedAt, endedAt: new Date(), equal, forbidden, collections };
  });
}

interface Comparison {
  readonly name: string;
  readonly source: RunSource<{ id: string }>;
  readonly settings: ReadSettings;
  /** Where the next sync would start. */
  readonly since: string | undefined;
}

async function differencesOf(
  target: TargetWith<'rows' | 'localIds'>,
  { name, source, settings, since }: Comparison,
): Promise<CollectionDifferences> {
  const extra = new Set<string>();
  for await (const id of target.localIds(name)) extra.add(id);
  const listed = new Set<string>();
  const missing = new Set<string>();
  const different = new Set<string>();
  let withoutId = 0;
  for await (const page of source.list({}, settings)) {
    const rows = copyRows(page.records, page.invalid);
    withoutId += page.records.length + page.invalid.length - rows.length;
    const stored = new Map(
      (
        await target.rows(
          name,
          rows.map(({ id }) => id),
        )
      ).map((row) => [row.id, row] as const),
    );
    for (const row of rows) {
      listed.add(row.id);
      extra.delete(row.id);
      const found = stored.get(row.id);
      if (found === undefined) missing.add(row.id);
      else if (isStored(row, found)) different.delete(row.id);
      else different.add(row.id);
    }
  }
  const changed = new Set<string>();
  if (missing.size + different.size > 0 && since !== undefined) {
    for await (const page of source.list({ updatedSince: since }, settings)) {
      for (const { id } of copyRows(page.records, page.invalid)) changed.add(id);
    }
  }
  const isOld = (id: string) => !changed.has(id);
  return {
    collection: name,
    // After a restart rows come again.
    records: listed.size,
    missing: [...missing].filter(isOld),
    different: [...different].filter(isOld),
    extra: [...extra],
    changedSince: [...missing, ...different].filter((id) => changed.has(id)),
    withoutId,
  };
}
