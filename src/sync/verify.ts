import { isForbidden } from '../errors/guards.ts';
import { checkObject, resolved } from '../input/checks.ts';
import { type CopyRow, copyRows } from '../internal/copy-rows.ts';
import { is, type OptionInputs, option, optional, required } from '../internal/options.ts';
import { recordCount } from '../internal/text.ts';
import { boundAt } from '../reading/bound.ts';
import { mostCandidates } from '../reading/candidates.ts';
import {
  OF_CLIENT,
  type ReadOptions,
  type ReadSettings,
  readOptions,
  readSettings,
} from '../reading/list-options.ts';
import { lookUp } from '../reading/look-up.ts';
import { type AnySource, type RunSource, runSource } from '../reading/source.ts';
import { decodeState, stateKey } from '../reading/state.ts';
import { readStore } from '../reading/store.ts';
import { sinceOf } from '../reading/watermark.ts';
import {
  type Completeness,
  type Evidence,
  equalityOf,
  evidenceBeside,
  evidenceOf,
  joinedEvidence,
  NO_EVIDENCE,
  verdictOf,
} from '../reports/evidence.ts';
import type { UnconfirmedDeletion } from '../reports/sync-report.ts';
import { lookUpAll, otherIdOf } from './look-up.ts';
import { changeOf, storedRows } from './pass.ts';
import { chunksOf } from './proof.ts';
import { type RunOptions, runOptions } from './run-options.ts';
import { type CollectionsIn, namesOf } from './sync-options.ts';
import type { SyncTarget } from './target.ts';
import { type TargetWith, withTarget } from './target-run.ts';

const { tenant, prefix, lookbackMs, signal } = runOptions;

const ownOptions = {
  /** The copy: `sqliteTarget` or `postgresTarget` of the entry `./targets`, or one of your own with `rows` and `localIds`. */
  target: required(is.withMethods<SyncTarget>('open')),
  /** See the same option of {@link sync}. Nothing is remembered. */
  sameCompany: option(is.flag, false),
  /**
   * The most records of a collection that are requested one by one because the copy has them and the list does not. The others
   * are `unconfirmed`. Default: 50, or a tenth of the copy if that is more.
   */
  maxCandidates: optional(is.numberFrom(0)),
  /** How many of them are requested at a time. Default: 2. */
  concurrency: option(is.integerFrom(1), 2),
};

const verifyOptions = {
  ...readOptions,
  ...{ tenant, prefix, lookbackMs, signal },
  ...ownOptions,
  collections: optional(is.strings),
};

/** Options of {@link verify}. */
export interface VerifyOptions<Names extends string = string>
  extends Pick<RunOptions, keyof ReadOptions | 'tenant' | 'prefix' | 'lookbackMs' | 'signal'>,
    OptionInputs<typeof ownOptions> {
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
  /** They are in the copy, but the service neither lists them nor finds them by their ids. */
  readonly extra: readonly string[];
  /**
   * They are in the copy and not listed, and a request for them shows neither, such as a 403, or they were not requested, because
   * there are more than `maxCandidates`.
   */
  readonly unconfirmed: readonly UnconfirmedDeletion[];
  /** Missing or different only because they changed since the last sync: no differences. */
  readonly changedSince: readonly string[];
  /** Rows without an id that can be read: no copy can have them. */
  readonly withoutId: number;
  /** Whether the read can have missed a record. */
  readonly complete: Completeness;
  /** What it has met, from which `complete` follows: see {@link evidenceFacts}. */
  readonly evidence: Evidence;
}

/** What {@link verify} found. */
export interface VerifyReport {
  /** The label of the company. */
  readonly tenant: string;
  /** When it began, by the clock of this machine. */
  readonly startedAt: Date;
  /** When it ended. */
  readonly endedAt: Date;
  /**
   * `true` proves that the copy equals the service. `false`: `missing`, `different`, `extra` or `withoutId` of a collection
   * is not empty. `likely`: nothing differs, but a collection is not `complete: 'certain'`, or has `unconfirmed` records:
   * by page, as UUIDs are read, both the sync and this read can have missed the same record.
   */
  readonly equal: boolean | 'likely';
  /** Collections that the key may not read, of which no sync has read anything: not compared. */
  readonly forbidden: readonly string[];
  /** How each collection of the copy differs. */
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
 * it may read none; InvalidInputError if there is no copy, or for the API key of another company; CheckpointError if the copy cannot be read; the signal's own reason.
 */
export async function verify<C extends object, Names extends CollectionsIn<C> = CollectionsIn<C>>(
  client: C,
  options: VerifyOptions<Names>,
): Promise<VerifyReport> {
  checkObject(client, 'client');
  const own = resolved(verifyOptions, options, { of: 'verify', elsewhere: OF_CLIENT });
  const sources = client as Readonly<Record<string, AnySource>>;
  const names = namesOf(sources, own.collections);
  const { tenant, target, prefix, lookbackMs, sameCompany, maxCandidates, concurrency, signal } = own;
  const read = { ...readSettings(own), keepInvalid: true };
  const startedAt = new Date();
  const run = { purpose: 'verify', target, tenant, names, sources, settings: read, sameCompany } as const;
  return await withTarget(
    { ...run, needs: ['rows', 'localIds'] },
    async (opened, { admission, callerCode }) => {
      const settings = { ...read, admission, callerCode };
      const collections: CollectionDifferences[] = [];
      const forbidden: string[] = [];
      for (const name of names) {
        const source = runSource(sources[name] as AnySource);
        const key = stateKey({ prefix, tenant, collection: name });
        const state = decodeState(await readStore(opened.store, key, signal), key);
        const since = state?.watermark && boundAt(sinceOf(state.watermark, lookbackMs), state.offset);
        try {
          collections.push(
            await differencesOf(opened, { name, source, settings, since, maxCandidates, concurrency }),
          );
        } catch (error) {
          if (!isForbidden(error) || state !== undefined || forbidden.length === names.length - 1)
            throw error;
          forbidden.push(name);
        }
      }
      const judged = collections.map((one) => {
        const others = collections.filter((other) => other !== one).map(({ evidence }) => evidence);
        return { ...one, ...verdictOf(evidenceBeside(one.evidence, others)) };
      });
      const verdict = equalityOf(judged.map(compared));
      return { tenant, startedAt, endedAt: new Date(), ...verdict, forbidden, collections: judged };
    },
  );
}

function compared({ missing, different, extra, withoutId, unconfirmed, evidence }: CollectionDifferences) {
  const differences = missing.length + different.length + extra.length + withoutId;
  return { evidence, differences, unconfirmed: unconfirmed.length };
}

interface Comparison {
  readonly name: string;
  readonly source: RunSource<{ id: string }>;
  readonly settings: ReadSettings;
  /** Where the next sync would start. */
  readonly since: string | undefined;
  readonly maxCandidates: number | undefined;
  readonly concurrency: number;
}

async function differencesOf(
  copy: TargetWith<'rows' | 'localIds'>,
  { name, source, settings, since, maxCandidates, concurrency }: Comparison,
): Promise<CollectionDifferences> {
  /** What a sync would do about each record. Without a sighting it would remove what the copy has. */
  const changes = new Map<string, ReturnType<typeof changeOf>>();
  for await (const id of copy.localIds(name)) changes.set(id, 'remove');
  const local = changes.size;
  const idsOf = (...kinds: ReturnType<typeof changeOf>[]) =>
    [...changes].filter(([, change]) => kinds.includes(change)).map(([id]) => id);
  const unconfirmed: UnconfirmedDeletion[] = [];
  let [listed, withoutId, evidence] = [0, 0, NO_EVIDENCE];
  const compare = async (rows: readonly CopyRow[]) => {
    const ids = rows.map(({ id }) => id);
    const storedRow = await storedRows(copy, name, ids);
    for (const row of rows) {
      const stored = storedRow(row.id);
      if (stored !== undefined) changes.delete(stored.id);
      // A row that comes again counts as it came last.
      changes.set(row.id, changeOf(row, stored));
    }
  };
  for await (const page of source.list({}, settings)) {
    const rows = copyRows(page.records, page.invalid);
    withoutId += page.records.length + page.invalid.length - rows.length;
    ({ evidence } = page);
    listed += page.rows.length;
    await compare(rows);
  }
  const unlisted = idsOf('remove');
  const most = mostCandidates(maxCandidates, local);
  const isListed = (id: string) => changes.has(id) && changes.get(id) !== 'remove';
  let hasFound = false;
  for (const id of unlisted.slice(most)) unconfirmed.push({ id, error: notRequested(unlisted.length, most) });
  for await (const ids of chunksOf(unlisted.slice(0, most))) {
    for (const sighting of await lookUpAll(ids, concurrency, (id) => lookUp(source, id, settings))) {
      const { id, seen } = sighting;
      if (seen === undefined) continue;
      if (seen instanceof Error) unconfirmed.push({ id, error: seen });
      // The service has it under an id in another case, as which it may have been listed.
      else if (otherIdOf(sighting) === undefined || !isListed(seen.id)) {
        hasFound = true;
        await compare([seen]);
      }
    }
  }
  for (const { id } of unconfirmed) changes.delete(id);
  const more = evidenceOf({ unlisted_record: hasFound, empty_list: local > 0 && listed === 0 });
  const differing = idsOf('add', 'change');
  const changed = new Set<string>();
  if (differing.length > 0 && since !== undefined) {
    for await (const page of source.list({ updatedSince: since }, settings)) {
      for (const { id } of copyRows(page.records, page.invalid)) changed.add(id);
    }
  }
  const isOld = (id: string) => !changed.has(id);
  return {
    collection: name,
    records: idsOf('add', 'change', 'same').length,
    missing: idsOf('add').filter(isOld),
    different: idsOf('change').filter(isOld),
    extra: idsOf('remove'),
    unconfirmed,
    changedSince: differing.filter((id) => changed.has(id)),
    withoutId,
    ...verdictOf(joinedEvidence(evidence, more)),
  };
}

function notRequested(unlisted: number, maxCandidates: number): Error {
  return new Error(
    `it was not requested, because ${recordCount(unlisted)} of the copy ${unlisted === 1 ? 'was' : 'were'} not listed, and maxCandidates is ${maxCandidates}`,
  );
}
