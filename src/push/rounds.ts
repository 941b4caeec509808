// The rounds of a push. Each looks at the existing products, decides what to do about every open row, and writes. What a
// round cannot settle stays open for the next one, in this push or in the next.

import { type AnyAccountingError, isAccountingError } from '../errors/guards.ts';
import { UnexpectedResponseError } from '../errors/unexpected-response-error.ts';
import { forEach } from '../internal/for-each.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import type { Read } from '../reading/source.ts';
import type { PushDifference } from '../reports/push-report.ts';
import type { Calls } from './calls.ts';
import {
  afterCreate,
  afterLook,
  afterUpdate,
  type CreateState,
  endOfCreate,
  endOfUpdate,
  isFirstSending,
  type Made,
  NONE,
  type Sent,
  toSend,
} from './create.ts';
import { type Fields, notStored, picked, withoutNull } from './draft.ts';
import { existingProducts } from './existing.ts';
import { sampleFirst } from './kinds.ts';
import { Match } from './match.ts';
import type { PushMemory } from './memory.ts';
import { type Missing, MissingProducts } from './missing.ts';
import { ChangedKeys, folded } from './natural-key.ts';
import type { AnyProduct, AnyTarget, ResolvedPushOptions } from './options.ts';
import type { Outcome, Results, Subject } from './results.ts';
import type { PushRow, Rows } from './rows.ts';

const MAX_ROUNDS = 3;
/** Creates that are stored at a time, before the first of them is sent. */
const CHUNK = 100;
/** After a longer question, others may have written what was planned. */
const LONG_QUESTION_MS = 5_000;

/** So many 403s in a row without a success of their kind, and the rest waits; so many more, and it is not sent. */
const SAMPLE = 20;
const LARGER_SAMPLE = 200;

const STILL_OPEN = 'run the push again: it continues with this row';
const DENIED = 'not sent, because the service denied every write of this kind before';

/** What a push works with. */
export interface Work {
  readonly products: AnyTarget;
  readonly options: ResolvedPushOptions;
  readonly results: Results;
  readonly rows: Rows;
  readonly memory: PushMemory;
  readonly calls: Calls;
}

/** What a round is to do. Nothing of it is done yet. */
interface Plan {
  /** Results that need no write. */
  readonly settled: readonly (readonly [PushRow, Outcome])[];
  readonly creates: readonly PushRow[];
  readonly updates: readonly PushRow[];
  /** Rows that wait for another look. */
  readonly open: readonly PushRow[];
  readonly missing: readonly Missing[];
}

export class Rounds {
  readonly #work: Work;
  /** The rows without a result. */
  readonly #open: Set<PushRow>;
  readonly #changedKeys = new ChangedKeys();
  /** The rows whose product an earlier push may have created, but the list did not show. */
  #lost: readonly PushRow[] = [];
  /** The writes that were not sent because of what others of their kind met, and after how many 403s in a row. */
  #unsent: Record<'create' | 'update', PushRow[]> = { create: [], update: [] };
  #mostDenied = SAMPLE;
  #match: Match;

  constructor(work: Work) {
    this.#work = work;
    this.#open = new Set(work.rows.byKey.values());
    this.#match = new Match(work.options, work.rows);
  }

  async run(): Promise<void> {
    const { calls, memory, options, results } = this.#work;
    // The service may still be carrying out what an earlier push sent.
    if (!options.dryRun && this.#isAnySent()) await calls.waitUntilVisible();
    const first = await this.#firstPlan();
    if (first === undefined) return;
    this.#settleAll(first);
    results.begin('write', this.#open.size + first.missing.length);
    try {
      await this.#write(first);
      for (let round = 2; this.#open.size > 0 && round <= MAX_ROUNDS; round++) {
        await memory.save();
        await calls.waitUntilVisible();
        await this.#look();
        const plan = this.#plan(this.#open);
        this.#settleAll(plan);
        await this.#write(plan);
      }
      await this.#writeMissing(first.missing);
    } catch (error) {
      this.#failOpen();
      // What is known is worth keeping, but the reason why the push stopped is the error to report.
      await memory.save().catch(() => undefined);
      throw error;
    }
    this.#failOpen();
    await memory.save();
  }

  /** The plan of the first round, confirmed; undefined if nothing may be written. */
  async #firstPlan(): Promise<Plan | undefined> {
    const { memory, options, results } = this.#work;
    const plan = await this.#read(options.existing);
    const counts = { ...results.report().counts };
    for (const [, { action }] of plannedResults(plan)) counts[action] += 1;
    const askedAt = monotonicMs();
    if (options.dryRun || !(await options.confirm(counts))) {
      results.isDryRun = true;
      for (const [subject, outcome] of plannedResults(plan)) results.add(subject, outcome);
      return undefined;
    }
    options.signal?.throwIfAborted();
    if (monotonicMs() - askedAt <= LONG_QUESTION_MS) return plan;
    const confirmed = new Set(plan.missing.map(({ id }) => id));
    // Both looks are in one round: a product that lags behind is missed once.
    for (const row of this.#open) if (row.state.is === 'made') memory.set(row, { ...row.state, misses: 0 });
    const again = await this.#read(undefined);
    return { ...again, missing: again.missing.filter(({ id }) => confirmed.has(id)) };
  }

  /** Reads the existing products, and plans. */
  async #read(existing: ResolvedPushOptions['existing']): Promise<Plan> {
    const { memory, options, results, rows } = this.#work;
    const missing = new MissingProducts(options, rows);
    this.#match = new Match(options, rows, missing);
    results.begin('read');
    for await (const page of existingProducts(this.#work, existing)) {
      this.#match.add(page);
      for (const [index, { id }] of page.records.entries()) memory.see(id, page.sent[index]);
      results.advance(page.records.length);
    }
    await this.#lookUp([...this.#open]);
    const plan = this.#plan(this.#open);
    this.#lost = [...this.#open].filter(({ state }) => state.is === 'sent');
    const inConflict = plan.settled.flatMap(([{ key }, { action }]) => (action === 'conflict' ? [key] : []));
    const uncertainKeys = [...inConflict, ...rows.failedKeys];
    return { ...plan, missing: missing.checked(new Set(uncertainKeys.map(folded))) };
  }

  /** A later round reads the list only to find the product of a create. */
  async #look(): Promise<void> {
    const { options, rows } = this.#work;
    if (this.#isAnySent()) {
      this.#match = new Match(options, rows);
      for await (const page of existingProducts(this.#work, undefined)) this.#match.add(page);
    } else for (const row of this.#open) this.#match.expect(row);
    await this.#lookUp([...this.#open]);
  }

  /** Gets the known products of these rows that were not seen. */
  async #lookUp(rows: readonly PushRow[]): Promise<void> {
    const unseen = rows.filter(({ id, state }) => id === undefined && state.is === 'made');
    await this.#forEach(unseen, (row) => this.#lookUpOne(row));
    await this.#checkRenumbered(rows.filter(({ foundBy }) => foundBy === 'id'));
  }

  async #lookUpOne(row: PushRow): Promise<void> {
    const found = await this.#work.calls.lookUpAlone((row.state as Made).id);
    if (found instanceof Error) {
      row.error = found;
      row.lookUp = 'failed';
    } else if (found.record === undefined) row.lookUp = 'missing';
    else this.#match.addProduct(found);
  }

  /** The error of one row. Throws what ends the push. */
  #errorOf(thrown: unknown): AnyAccountingError {
    if (this.#work.calls.stopsPush(thrown)) throw thrown;
    return thrown as AnyAccountingError;
  }

  /** The number of a product was changed upstream, or it was pushed under another key since. */
  async #checkRenumbered(renumbered: readonly PushRow[]): Promise<void> {
    const { memory } = this.#work;
    const keysOf = await memory.keysOf(renumbered.map(({ id }) => id as string));
    for (const row of renumbered) {
      const { id, otherKey = '' } = row;
      const others = (keysOf.get(id as string) ?? []).filter((key) => key !== row.key);
      if (others.includes(otherKey)) {
        row.forget();
        memory.set(row, NONE);
      } else if (others.length > 0)
        row.conflict = `product ${id} was pushed under the key ${JSON.stringify(others[0])} too`;
    }
  }

  #isAnySent(): boolean {
    for (const { state } of this.#open) if (state.is === 'sent') return true;
    return false;
  }

  #plan(rows: Iterable<PushRow>): Plan {
    const settled: [PushRow, Outcome][] = [];
    const creates: PushRow[] = [];
    const updates: PushRow[] = [];
    const open: PushRow[] = [];
    for (const row of rows) {
      const { sight, reason = '' } = this.#match.sightOf(row);
      const { state, step } = afterLook(row.state, sight);
      this.#work.memory.set(row, state);
      if (step === 'send') creates.push(row);
      else if (step === 'open') open.push(row);
      else if (step === 'compare' && row.fields.length > 0) updates.push(row);
      else if (step === 'compare') settled.push([row, doneOf(row)]);
      else if (step === 'conflict') settled.push([row, conflictOf(row, reason)]);
      else if (step === 'failed') settled.push([row, { action: 'failed', id: row.id, error: row.error }]);
      else settled.push([row, { action: 'failed', error: lacking(state, this.#match.unreadableFor(row)) }]);
    }
    return { settled, creates, updates, open, missing: [] };
  }

  #settleAll({ settled }: Plan): void {
    for (const [row, outcome] of settled) this.#settle(row, outcome);
  }

  /** Sends creates, then updates. If the first of a kind are all denied, the rest is tried once more, as a larger sample. */
  async #write({ creates, updates }: Pick<Plan, 'creates' | 'updates'>): Promise<void> {
    const { calls } = this.#work;
    let left: Readonly<Record<'create' | 'update', readonly PushRow[]>> = {
      create: creates,
      update: updates,
    };
    let sample = SAMPLE;
    this.#mostDenied = sample;
    for (let isSent = true; isSent; ) {
      this.#unsent = { create: [], update: [] };
      await this.#createAll(sampleFirst(left.create, sample));
      await this.#updateAll(sampleFirst(left.update, sample));
      const count = this.#unsent.create.length + this.#unsent.update.length;
      isSent = count > 0 && count < left.create.length + left.update.length;
      left = this.#unsent;
      sample = LARGER_SAMPLE;
      this.#mostDenied = SAMPLE + LARGER_SAMPLE;
    }
    calls.throwIfStopped();
    for (const kind of ['create', 'update'] as const) {
      const error = calls.rejection(kind, 0)?.error;
      for (const row of left[kind])
        this.#settle(row, { action: 'failed', id: row.id, error, reason: DENIED });
    }
  }

  /**
   * The last writes, because the service can have changed the key of a create whose response was lost: its product then
   * seems to be missing, until a repeat of the create returns its id.
   */
  async #writeMissing(missing: readonly Missing[]): Promise<void> {
    if (missing.length === 0 || this.#lost.some(({ state }) => state.is !== 'made')) return;
    const found = new Set(this.#lost.map(({ state }) => (state as Made).id));
    await this.#work.memory.begin();
    await this.#forEach(missing, async (product) => {
      if (!found.has(product.id)) await this.#missing(product);
    });
    this.#work.calls.throwIfStopped();
  }

  async #createAll(rows: readonly PushRow[]): Promise<void> {
    for (let from = 0; from < rows.length; from += CHUNK) await this.#create(rows.slice(from, from + CHUNK));
  }

  async #updateAll(rows: readonly PushRow[]): Promise<void> {
    if (rows.length > 0) await this.#work.memory.begin();
    await this.#forEach(rows, (row) => this.#update(row));
  }

  async #create(rows: readonly PushRow[]): Promise<void> {
    const { memory, options } = this.#work;
    if (rows.every((row) => this.#isRejected('create', row))) return;
    const { creates: mayRepeat } = options.settings.retry;
    for (const row of rows) memory.set(row, toSend(row.state as Sent, { draft: row.draft, mayRepeat }));
    await memory.begin();
    const unsent = new Set(rows);
    try {
      await this.#forEach(rows, async (row) => {
        memory.throwIfLost();
        unsent.delete(row);
        await this.#createOne(row);
      });
    } catch (error) {
      for (const row of unsent) this.#forgetUnsent(row);
      throw error;
    }
  }

  async #createOne(row: PushRow): Promise<void> {
    const { calls, memory } = this.#work;
    if (this.#isRejected('create', row)) return;
    const unsent = this.#changedKeys.check(row.key);
    if (unsent !== undefined) {
      this.#forgetUnsent(row);
      return this.#settle(row, unsent);
    }
    const state = row.state as Sent;
    const draft = withoutNull(JSON.parse(state.draft) as Fields);
    let created: Read<AnyProduct>;
    try {
      created = await calls.create(draft, state.idempotencyKey);
    } catch (thrown) {
      const next = afterCreate(state, endOfCreate(thrown));
      memory.set(row, next.state);
      if (isAccountingError(thrown)) row.error = thrown;
      const error = this.#errorOf(thrown);
      if (next.step === 'failed') this.#settle(row, { action: 'failed', error });
      return;
    }
    const { id } = created.record;
    const next = afterCreate(state, { end: 'created', id });
    memory.set(row, next.state);
    if (next.step === 'created') {
      memory.see(id, created.row);
      if (this.#hasChangedKey(row, created)) return;
      this.#settle(row, { action: 'created', id, notStored: this.#notStored(created, draft) });
      return;
    }
    if (await this.#differs(row)) await this.#update(row);
  }

  /** Gets the known product of a row. Reports the row, unless its product still differs. */
  async #differs(row: PushRow): Promise<boolean> {
    this.#match.expect(row);
    await this.#lookUp([row]);
    const plan = this.#plan([row]);
    this.#settleAll(plan);
    return plan.updates.length > 0;
  }

  /** Sends the fields in which the product of a row differs. */
  async #update(row: PushRow): Promise<void> {
    const { calls, memory } = this.#work;
    const state = row.state as Made;
    const { fields } = row;
    if (this.#isRejected('update', row)) return;
    const patch = picked(JSON.parse(row.draft) as Fields, fields);
    let updated: Read<AnyProduct>;
    try {
      updated = await calls.update(state.id, patch);
    } catch (thrown) {
      if (isAccountingError(thrown)) row.error = thrown;
      const error = this.#errorOf(thrown);
      if (error.outcome === 'unknown' || error.outcome === 'applied') row.fieldsSent = fieldsOf(row);
      const next = afterUpdate(state, endOfUpdate(error));
      memory.set(row, next.state);
      // If it differs, the service may show the update later: the next round compares it again.
      if (next.step === 'look') await this.#differs(row);
      if (next.step === 'updated') this.#settle(row, doneOf(row));
      if (next.step === 'failed') this.#settle(row, { action: 'failed', id: state.id, error });
      return;
    }
    row.fieldsSent = fieldsOf(row);
    this.#settle(row, { ...doneOf(row), notStored: this.#notStored(updated, patch) });
  }

  #notStored(returned: Read<AnyProduct>, sent: Fields): PushDifference[] {
    return notStored(returned.row as Fields, sent, this.#work.options.facts.fields);
  }

  async #missing({ id, key, patch }: Missing): Promise<void> {
    const { calls, options, results, rows } = this.#work;
    const kind = patch === undefined ? 'delete' : 'update';
    const rejection = calls.rejection(kind, SAMPLE);
    if (rejection !== undefined)
      return results.add({ key }, { action: 'failed', id, error: rejection.error, reason: DENIED });
    try {
      const found = await calls.lookUp(id);
      // It does not exist any more, or got the key of a row meanwhile.
      if (found.record === undefined || rows.byKey.has(options.keyOf(found) ?? '')) return;
      results.add({ key }, await this.#change(id, patch));
    } catch (error) {
      if (endOfUpdate(error) === 'missing') return;
      if (isAccountingError(error)) results.add({ key }, { action: 'failed', id, error });
      if (calls.stopsPush(error)) throw error;
    }
  }

  /** Deletes a product, or updates it. If the response does not show that, a request for the product does. */
  async #change(id: string, patch: Fields | undefined): Promise<Outcome> {
    const { calls } = this.#work;
    const done: Outcome =
      patch === undefined ? { action: 'deleted', id } : { action: 'updated', id, fields: Object.keys(patch) };
    try {
      if (patch !== undefined)
        return { ...done, notStored: this.#notStored(await calls.update(id, patch), patch) };
      await calls.delete(id);
    } catch (error) {
      const end = endOfUpdate(error);
      if (end === 'empty') return done;
      if (end !== 'unread') throw error;
      const found = await calls.lookUp(id);
      const isMissing = found.record === undefined;
      const isDone =
        patch === undefined ? isMissing : !isMissing && this.#notStored(found, patch).length === 0;
      if (!isDone) throw error;
    }
    return done;
  }

  /** Whether a write is left unsent, because of what every one of its kind met. */
  #isRejected(kind: 'create' | 'update', row: PushRow): boolean {
    if (this.#work.calls.rejection(kind, this.#mostDenied) === undefined) return false;
    this.#forgetUnsent(row);
    this.#unsent[kind].push(row);
    return true;
  }

  /** The next push need not look for the product of a create that was not sent. */
  #forgetUnsent(row: PushRow): void {
    if (isNew(row.state)) this.#work.memory.set(row, NONE);
  }

  /** Reports a conflict if the service stored another key than was sent. */
  #hasChangedKey(row: PushRow, created: Read<AnyProduct>): boolean {
    const changed = this.#changedKeys.add(row.key, this.#work.options.keyOf(created) ?? '');
    if (changed === undefined) return false;
    const { id } = created.record;
    const reason = `the service stored another key: ${changed}. Normalise the keys in key`;
    this.#settle(row, { action: 'conflict', id, ids: [id], reason });
    return true;
  }

  #settle(row: PushRow, outcome: Outcome): void {
    this.#open.delete(row);
    this.#work.results.add(row, outcome);
  }

  /** What is still open fails with its last error. What is known of its create stays in the store. */
  #failOpen(): void {
    for (const row of this.#open) {
      const { state, error } = row;
      const id = state.is === 'made' ? state.id : undefined;
      if (error !== undefined) this.#settle(row, { action: 'failed', id, error, reason: STILL_OPEN });
    }
  }

  async #forEach<V>(items: readonly V[], work: (item: V) => Promise<void>): Promise<void> {
    await forEach(items, this.#work.options.concurrency, work);
  }
}

/** Whether a create has not been sent under its key before. */
function isNew(state: CreateState): boolean {
  return state.is === 'sent' && isFirstSending(state);
}

/** All results, as they will be if every write succeeds. */
function* plannedResults({
  settled,
  creates,
  updates,
  open,
  missing,
}: Plan): Generator<readonly [Subject, Outcome], void> {
  yield* settled;
  // The product of an open row seems to be deleted.
  for (const row of [...creates, ...open]) yield [row, { action: 'created' }];
  for (const row of updates) yield [row, { action: 'updated', id: row.id as string, fields: row.fields }];
  for (const { id, key, patch } of missing) {
    const fields = Object.keys(patch ?? {});
    yield [{ key }, patch === undefined ? { action: 'deleted', id } : { action: 'updated', id, fields }];
  }
}

/** All fields that this run sent for a row, with an update that ends now. */
function fieldsOf({ fields, fieldsSent }: PushRow): readonly string[] {
  return [...new Set([...fieldsSent, ...fields])];
}

/** A row whose product has its values. It is `created` if this run sent the create. */
function doneOf({ id: seen, fieldsSent: fields, state }: PushRow): Outcome {
  const { id, isOwn } = state as Made;
  if (isOwn) return { action: 'created', id, fields };
  return fields.length > 0 ? { action: 'updated', id, fields } : { action: 'unchanged', id: seen ?? id };
}

function conflictOf({ id, otherIds, similar }: PushRow, reason: string): Outcome {
  const first = id ?? similar?.id;
  return { action: 'conflict', id: first, ids: first === undefined ? [] : [first, ...otherIds], reason };
}

function lacking(state: CreateState, unreadable: string | undefined): UnexpectedResponseError {
  const isSent = state.is === 'sent';
  const created = isSent ? 'An earlier create of this row may have created it.' : 'Nothing was created.';
  const why =
    unreadable === undefined
      ? `The list is incomplete: it repeated products, so it also missed some, and the product of this row can be one of them. ${created} Order the list by id, or pass incompleteList: "create".`
      : `The product of this row may be ${unreadable}, which cannot be read. ${created} Correct that product.`;
  return new UnexpectedResponseError(
    why,
    { method: 'GET', path: '/products', outcome: isSent ? 'unknown' : 'not_sent' },
    { status: 200, reason: unreadable === undefined ? 'wrong_content' : 'wrong_shape' },
  );
}
