import { ConcurrentRunError } from '../errors/concurrent-run-error.ts';
import { DeletionsAbortedError } from '../errors/deletions-aborted-error.ts';
import { checkId, resolved } from '../input/checks.ts';
import { is, type OptionInputs, option, optional, required } from '../internal/options.ts';
import { type ReadOptions, type ReadSettings, readOptions, readSettings } from '../reading/list-options.ts';
import { nameOf, type RunSource, runSource, type SyncSource } from '../reading/source.ts';
import { label } from '../reading/state.ts';
import { copyRow, isStored } from './copy-records.ts';
import type { SyncTarget } from './target.ts';
import { guardCompany, type TargetWith, withTarget } from './target-run.ts';

const { pagination: _, afterLastPage: __, pageParameter: ___, ...ofLookups } = readOptions;

const ownOptions = {
  /** The label of the company, as for `sync`. */
  tenant: required(label),
  /** The copy: `sqliteTarget` or `postgresTarget` of the entry `./targets`, or one of your own with `rows` and `replace`. */
  target: required(is.withMethods<SyncTarget>('open')),
  /** The ids of the records. */
  ids: required({
    ...is.strings,
    verify(ids: readonly string[], name: string) {
      for (const id of ids) checkId(id, name);
    },
  }),
  /** The name of the collection in the copy. Default: that of its segment. */
  name: optional(label),
  /** See the same option of {@link sync}. */
  sameCompany: option(is.flag, false),
  /** Stops it: rejects with the signal's own reason. */
  signal: optional(is.signal),
};

const refreshOptions = { ...ofLookups, ...ownOptions };

/** Options of {@link refresh}. */
export interface RefreshOptions
  extends Omit<ReadOptions, 'pagination' | 'afterLastPage' | 'pageParameter'>,
    OptionInputs<typeof ownOptions> {}

/** What {@link refresh} changed in the copy: counts of records. */
export interface RefreshReport {
  readonly collection: string;
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly deleted: number;
}

/** A row that another run writes each time before this one has read it again. */
const MOST_ATTEMPTS = 10;

/** The first records of the copy, of which one must be found before a 404 of another one counts. Then some of the others. */
const WITNESSES = 10;

/**
 * Brings single records of a copy up to date now: after a write, a webhook or a click. Gets each record and writes it, or
 * removes it if the service does not have it any more. No checkpoint moves, and a sync may run at the same time.
 *
 * ```ts
 * await refresh(client.products, { tenant: 'acme', target, ids: [desk.id] });
 * ```
 * @throws DeletionsAbortedError if a record is not found, and no other record of the copy is either, so that the 404
 * proves nothing; what a GET throws; InvalidInputError; CheckpointError if the copy cannot be written; ConcurrentRunError
 * if the tenant was forgotten meanwhile; the signal's own reason.
 */
export async function refresh(
  collection: SyncSource<{ id: string }>,
  options: RefreshOptions,
): Promise<RefreshReport> {
  const own = resolved(refreshOptions, options, { of: 'refresh' });
  const { tenant, target, ids, sameCompany, signal } = own;
  const name = nameOf(collection, own.name);
  const source = runSource(collection);
  const settings: ReadSettings = { ...readSettings(own), signal, keepInvalid: true };
  const sources = { [name]: collection };
  const run = { purpose: 'refresh', target, tenant, names: [name], sources, read: settings } as const;
  return await withTarget({ ...run, needs: ['rows', 'replace', 'localIds'] }, async (opened) => {
    const remember = await guardCompany(opened, sources, { tenant, sameCompany, settings });
    const context = { target: opened, name, source, settings, remember, is404Proven: false };
    const counts = { added: 0, changed: 0, unchanged: 0, deleted: 0 };
    for (const id of new Set(ids)) {
      signal?.throwIfAborted();
      counts[await refreshOne(id, context)] += 1;
    }
    return { collection: name, ...counts };
  });
}

interface RefreshContext {
  readonly target: TargetWith<'rows' | 'replace' | 'localIds'>;
  readonly name: string;
  readonly source: RunSource<{ id: string }>;
  readonly settings: ReadSettings;
  readonly remember: () => Promise<void>;
  /** Whether another record of the copy was found. */
  is404Proven: boolean;
}

/** Reads a record again if another run wrote its row meanwhile, because it is unknown which of the two is newer. */
async function refreshOne(
  requested: string,
  context: RefreshContext,
): Promise<keyof Omit<RefreshReport, 'collection'>> {
  const { target, name, source, settings, remember } = context;
  let id = requested;
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
    const [before] = await target.rows(name, [id]);
    const found = await source.lookUp(id, settings);
    const row = copyRow(found);
    if (row !== undefined && row.id !== id) {
      // The service writes the id in another case, and lists the record so.
      id = row.id;
      continue;
    }
    if (row === undefined) {
      if (before === undefined) return 'unchanged';
      await prove404(id, context);
    }
    if (row !== undefined && before !== undefined) context.is404Proven = true;
    await remember();
    if (row !== undefined && before !== undefined && isStored(row, before)) {
      const [now] = await target.rows(name, [id]);
      if (now?.version === before.version) return 'unchanged';
    } else if (await target.replace(name, id, row, before?.version)) {
      if (row === undefined) return 'deleted';
      return before === undefined ? 'added' : 'changed';
    }
  }
  throw new ConcurrentRunError(
    `Another run wrote the record ${JSON.stringify(id)} of ${name} ${MOST_ATTEMPTS} times while it was read, or the tenant was forgotten.`,
    { retryable: true, hint: 'Run it again.' },
  );
}

/** With the API key of another company every record is a 404, so the service must have another record of the copy. */
async function prove404(missing: string, context: RefreshContext): Promise<void> {
  if (context.is404Proven) return;
  const { target, name, source, settings } = context;
  let [position, tried] = [0, 0];
  for await (const id of target.localIds(name)) {
    if (id === missing) continue;
    position += 1;
    // Records that were added together may have been deleted together.
    if (position > WITNESSES && !Number.isInteger(Math.log2(position))) continue;
    tried += 1;
    if (copyRow(await source.lookUp(id, settings)) !== undefined) {
      context.is404Proven = true;
      return;
    }
  }
  throw new DeletionsAbortedError(
    `The deletions of ${name} were aborted: a record was not found, and none of ${tried} other records of the copy either, so the 404 does not prove that it was deleted; it was not removed.`,
    { collection: name, local: tried, seen: 0, missing: 0, candidates: 1 },
    {
      reason: 'first_record_not_found',
      maxCandidates: Number.POSITIVE_INFINITY,
      hint: "Check the API key, or run sync in mode: 'full'.",
    },
  );
}
