import { ConcurrentRunError } from '../errors/concurrent-run-error.ts';
import { isAccountingError } from '../errors/guards.ts';
import { checkId, resolved } from '../input/checks.ts';
import { is, type OptionInputs, option, optional, required } from '../internal/options.ts';
import {
  OF_CLIENT,
  type ReadOptions,
  type ReadSettings,
  readOptions,
  readSettings,
} from '../reading/list-options.ts';
import { lookUp } from '../reading/look-up.ts';
import { nameOf, type RunSource, runSource, type SyncSource } from '../reading/source.ts';
import { label } from '../reading/state.ts';
import type { UnconfirmedDeletion } from '../reports/sync-report.ts';
import { covers, formOf, type IdForm } from '../schemas/id-form.ts';
import { otherIdOf, type Sighting } from './look-up.ts';
import { changeOf, storedRows } from './pass.ts';
import { chunksOf, Proof } from './proof.ts';
import type { StoredRow, SyncTarget } from './target.ts';
import { type TargetWith, withTarget } from './target-run.ts';

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

const refreshOptions = { ...readOptions, ...ownOptions };

/** Options of {@link refresh}. */
export interface RefreshOptions extends ReadOptions, OptionInputs<typeof ownOptions> {}

/** What {@link refresh} changed in the copy: counts of records. */
export interface RefreshReport {
  readonly collection: string;
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly deleted: number;
  /**
   * Records of the copy that are kept although a request for them returned 404, because nothing shows that the service finds
   * ids of their form: see the reason `unrouted_id` of UnexpectedResponseError.
   */
  readonly unconfirmed: readonly UnconfirmedDeletion[];
}

type Counts = Record<'added' | 'changed' | 'unchanged' | 'deleted', number>;

/** A row that another run writes each time before this one has read it again. */
const MOST_ATTEMPTS = 10;

/** The first other records of the copy are requested to prove a 404. Then some of the others. */
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
  const own = resolved(refreshOptions, options, { of: 'refresh', elsewhere: OF_CLIENT });
  const { tenant, target, ids, sameCompany } = own;
  const name = nameOf(collection, own.name);
  const source = runSource(collection);
  const read = { ...readSettings(own), keepInvalid: true };
  const from = { names: [name], sources: { [name]: collection }, settings: read };
  const into = { purpose: 'refresh', target, tenant, sameCompany } as const;
  const needs = ['rows', 'replace', 'localIds'] as const;
  return await withTarget(
    { ...into, ...from, needs },
    async (opened, { admission, callerCode, remember }) => {
      const settings = { ...read, admission, callerCode };
      const counts = { added: 0, changed: 0, unchanged: 0, deleted: 0 };
      const unconfirmed: UnconfirmedDeletion[] = [];
      const pass = refreshPass({ copy: opened, name, source, settings, remember }, counts, unconfirmed);
      let left: ReadonlySet<string> = new Set(ids);
      for (let attempt = 1; left.size > 0; attempt++) {
        if (attempt > MOST_ATTEMPTS) {
          const [id] = left;
          throw new ConcurrentRunError(
            `Another run wrote the record ${JSON.stringify(id)} of ${name} ${MOST_ATTEMPTS} times while it was read, or the tenant was forgotten.`,
            'wrote_often',
          );
        }
        left = await pass(left);
      }
      return { collection: name, ...counts, unconfirmed };
    },
  );
}

interface RefreshContext {
  readonly copy: TargetWith<'rows' | 'replace' | 'localIds'>;
  readonly name: string;
  readonly source: RunSource<{ id: string }>;
  readonly settings: ReadSettings;
  readonly remember: () => Promise<void>;
}

const COUNTED = { add: 'added', change: 'changed', remove: 'deleted' } as const;

/**
 * A function that requests records and writes what is different. It returns the ids to request again: if another run wrote
 * a row meanwhile, it is unknown which of the two is newer.
 */
function refreshPass(
  { copy, name, source, settings, remember }: RefreshContext,
  counts: Counts,
  unconfirmed: UnconfirmedDeletion[],
) {
  /** The records that are requested, as the copy had them before: a version that is written later is not replaced. */
  const stored = new Map<string, StoredRow | undefined>();
  /** Ids that are done, and whether the service has a record of each. */
  const exists = new Map<string, boolean>();
  const proof = new Proof({
    collection: name,
    lookUp: (id) => lookUp(source, id, settings),
    witnesses: others,
    witnessesOf: (form) => othersOf(form),
    segment: source.segment,
    forms: source.forms,
    maxCandidates: Number.POSITIVE_INFINITY,
    concurrency: 1,
  });

  async function* requested(ids: ReadonlySet<string>) {
    for await (const chunk of chunksOf(ids)) {
      const storedRow = await storedRows(copy, name, chunk);
      for (const id of chunk) stored.set(id, storedRow(id));
      yield* chunk;
    }
  }

  /** Other records of the copy. Records that were added together may have been deleted together. */
  async function* others() {
    let position = 0;
    for await (const id of copy.localIds(name)) {
      if (stored.has(id)) continue;
      position += 1;
      if (position <= WITNESSES || Number.isInteger(Math.log2(position))) yield id;
    }
  }

  async function* othersOf(form: IdForm) {
    for await (const id of copy.localIds(name)) {
      if (!stored.has(id) && covers(formOf(id), form)) yield id;
    }
  }

  /** Writes a record, unless it is equal, or another run wrote it meanwhile. */
  async function write({ id, seen }: Sighting<{ id: string }>): Promise<keyof Counts | undefined> {
    const before = stored.get(id);
    const change = changeOf(seen, before);
    // One that the copy did not have stays: it shows nothing of those that it has.
    if (before !== undefined) stored.delete(id);
    if (seen instanceof Error) throw seen;
    if (seen === undefined && before === undefined) return 'unchanged';
    if (seen !== undefined && before !== undefined) proof.know({ witness: 'found' });
    await remember();
    if (change === 'same' || change === 'unknown') {
      const now = (await storedRows(copy, name, [id]))(id);
      return now?.version === before?.version ? 'unchanged' : undefined;
    }
    return (await copy.replace(name, id, seen, before?.version)) ? COUNTED[change] : undefined;
  }

  return async (ids: ReadonlySet<string>) => {
    const again = new Set<string>();
    for await (const sightings of proof.confirmed(requested(ids), (id) => stored.get(id) !== undefined)) {
      for (const sighting of sightings) {
        const { id, seen } = sighting;
        if (isAccountingError(seen, 'unexpected_response') && seen.reason === 'unrouted_id') {
          unconfirmed.push({ id, error: seen });
          continue;
        }
        // The service writes the id in another case, and lists the record so.
        const listed = otherIdOf(sighting);
        if (listed !== undefined) {
          const isThere = exists.get(listed);
          if (isThere === undefined && !ids.has(listed)) again.add(listed);
          if (stored.get(id) === undefined) continue;
          // Its other row is removed last, so that a run that is stopped in between loses no record.
          if (isThere === undefined) again.add(id);
          if (isThere === false) counts.unchanged += 1;
          if (isThere !== true) continue;
        }
        const done = await write(listed === undefined ? sighting : { ...sighting, seen: undefined });
        if (done === undefined) {
          again.add(id);
          continue;
        }
        exists.set(id, seen !== undefined);
        counts[done] += 1;
      }
    }
    return again;
  };
}
