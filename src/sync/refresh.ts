import { checkFlag, checkId, checkObject, checkOptionNames } from '../errors/check-input.ts';
import { ConcurrentRunError } from '../errors/concurrent-run-error.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { ReconcileAbortedError } from '../errors/reconcile-aborted-error.ts';
import type { OptionNames } from '../internal/option-names.ts';
import {
  READ_OPTIONS,
  type ReadOptions,
  type ReadSettings,
  resolveReadOptions,
} from '../reading/list-options.ts';
import { nameOf, type RunSource, runSource, type SyncSource } from '../reading/source.ts';
import { checkStateName } from '../reading/state.ts';
import { copyRow, isStored } from './copy-records.ts';
import type { OpenTarget, SyncTarget } from './target.ts';
import { checkTarget, checkTargetMethods, guardCompany, targetContext, withTarget } from './target-run.ts';

/** Options of {@link refresh}. */
export interface RefreshOptions extends Omit<ReadOptions, 'pagination' | 'afterLastPage' | 'pageParameter'> {
  /** The label of the company, as for `sync`. */
  tenant: string;
  /** The copy: `sqliteTarget` or `postgresTarget` of the entry `./targets`, or one of your own with `rows` and `replace`. */
  target: SyncTarget;
  /** The ids of the records. */
  ids: readonly string[];
  /** The name of the collection in the copy. Default: that of its segment. */
  name?: string | undefined;
  /** See the same option of {@link sync}. */
  sameCompany?: boolean | undefined;
  /** Stops it: rejects with the signal's own reason. */
  signal?: AbortSignal | undefined;
}

const REFRESH_OPTIONS: OptionNames<RefreshOptions> = {
  ...(({ pagination, afterLastPage, pageParameter, ...options }) => options)(READ_OPTIONS),
  tenant: true,
  target: true,
  ids: true,
  name: true,
  sameCompany: true,
  signal: true,
};

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

/** Records of the copy, of which one must be found before a 404 of another one counts. */
const WITNESSES = 3;

/**
 * Brings single records of a copy up to date now: after a write, a webhook or a click. Gets each record and writes it, or
 * removes it if the service does not have it any more. No checkpoint moves, and a sync may run at the same time.
 *
 * ```ts
 * await refresh(client.products, { tenant: 'acme', target, ids: [desk.id] });
 * ```
 * @throws ReconcileAbortedError if a record is not found, and no other record of the copy is either, so that the 404
 * proves nothing; what a GET throws; InvalidInputError; CheckpointError if the copy cannot be written; ConcurrentRunError
 * if the tenant was forgotten meanwhile; the signal's own reason.
 */
export async function refresh(
  collection: SyncSource<{ id: string }>,
  options: RefreshOptions,
): Promise<RefreshReport> {
  checkObject(options, 'options');
  const name = nameOf(collection, options.name);
  checkOptionNames(options, REFRESH_OPTIONS, { of: 'refresh' });
  const { tenant, ids, sameCompany = false, signal } = options;
  checkStateName({ prefix: 'accounting-data-sdk', tenant });
  checkFlag(sameCompany, 'sameCompany');
  if (!Array.isArray(ids)) throw new InvalidInputError('ids', 'must be an array of ids');
  for (const id of ids) checkId(id, 'ids');
  const target = checkTarget(options);
  const source = runSource(collection);
  const settings: ReadSettings = { ...resolveReadOptions(options), signal, keepInvalid: true };
  const sources = { [name]: collection };
  const context = targetContext('refresh', sources, [name], { tenant, signal, read: settings });
  return await withTarget(target, context, async (opened) => {
    checkTargetMethods(opened, 'refresh', ['rows', 'replace', 'localIds']);
    const remember = await guardCompany(opened, sources, { tenant, sameCompany, settings });
    const run = new Refresh(opened as Writable, { name, source, settings, remember, startedAt: new Date() });
    return await run.all([...new Set(ids)]);
  });
}

type Writable = OpenTarget & Required<Pick<OpenTarget, 'rows' | 'replace' | 'localIds'>>;

interface RefreshContext {
  readonly name: string;
  readonly source: RunSource<{ id: string }>;
  readonly settings: ReadSettings;
  readonly remember: () => Promise<void>;
  readonly startedAt: Date;
}

class Refresh {
  readonly #target: Writable;
  readonly #context: RefreshContext;
  #is404Proven = false;

  constructor(target: Writable, context: RefreshContext) {
    this.#target = target;
    this.#context = context;
  }

  async all(ids: readonly string[]): Promise<RefreshReport> {
    const counts = { added: 0, changed: 0, unchanged: 0, deleted: 0 };
    for (const id of ids) {
      this.#context.settings.signal?.throwIfAborted();
      counts[await this.#one(id, ids)] += 1;
    }
    return { collection: this.#context.name, ...counts };
  }

  /** Reads a record again if another run wrote its row meanwhile: which of the two is newer is not known. */
  async #one(id: string, ids: readonly string[]): Promise<keyof Omit<RefreshReport, 'collection'>> {
    const { name, source, settings, remember } = this.#context;
    for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
      const [before] = await this.#target.rows(name, [id]);
      const found = await source.lookUp(id, settings);
      const row = copyRow(found);
      if (row === undefined) {
        if (before === undefined) return 'unchanged';
        await this.#prove404(ids);
      }
      await remember();
      if (row !== undefined && before !== undefined && isStored(row, before)) {
        const [now] = await this.#target.rows(name, [id]);
        if (now?.version === before.version) return 'unchanged';
      } else if (await this.#target.replace(name, id, row, before?.version)) {
        if (row === undefined) return 'deleted';
        return before === undefined ? 'added' : 'changed';
      }
    }
    throw new ConcurrentRunError(
      `Another run wrote the record ${JSON.stringify(id)} of ${name} ${MOST_ATTEMPTS} times while it was read, or the tenant was forgotten.`,
      { retryable: true, hint: 'Run it again.' },
    );
  }

  /** With the API key of another company every record is a 404. One of the copy must be found. */
  async #prove404(ids: readonly string[]): Promise<void> {
    if (this.#is404Proven) return;
    const { name, source, settings, startedAt } = this.#context;
    let tried = 0;
    for await (const id of this.#target.localIds(name)) {
      if (ids.includes(id)) continue;
      if (copyRow(await source.lookUp(id, settings)) !== undefined) {
        this.#is404Proven = true;
        return;
      }
      if (++tried === WITNESSES) break;
    }
    const count = { local: tried, seen: 0, missing: 0, candidates: ids.length, deleted: 0, repaired: 0 };
    throw new ReconcileAbortedError(
      `The refresh of ${name} was aborted: a record was not found, and none of ${tried} other records of the copy either, so the 404 does not prove that it was deleted; it was not removed.`,
      {
        collection: name,
        pagination: undefined,
        complete: undefined,
        ...count,
        startedAt,
        endedAt: new Date(),
      },
      {
        reason: 'first_record_not_found',
        maxCandidates: Number.POSITIVE_INFINITY,
        hint: "Check the API key, or run sync in mode: 'full'.",
      },
    );
  }
}
