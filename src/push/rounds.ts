// The rounds of a push. Each looks at the existing products, decides what to do about every open row, and writes. What a
// round cannot settle stays open for the next one, in this push or in the next.

import { type AnyAccountingError, isAccountingError } from '../errors/guards.ts';
import { UnexpectedResponseError } from '../errors/unexpected-response-error.ts';
import { forEach } from '../internal/for-each.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import { momentOf } from '../reading/company.ts';
import type { RecordRow } from '../reading/source.ts';
import type { PushDifference } from '../reports/push-report.ts';
import type { Calls } from './calls.ts';
import {
  afterBrokenRound,
  afterCreate,
  afterLook,
  afterUpdate,
  type CreateState,
  endOfCreate,
  endOfUpdate,
  isFirstSending,
  type MadeProduct,
  NONE,
  type SentCreate,
  toSend,
} from './create.ts';
import { type JsonFields, notStored, picked, withoutNull } from './draft.ts';
import { existingProducts } from './existing.ts';
import { sampleFirst } from './kinds.ts';
import { Match, type SeenProduct } from './match.ts';
import type { PushMemory } from './memory.ts';
import { type Missing, MissingProducts } from './missing.ts';
import { ChangedKeys, folded } from './natural-key.ts';
import type { AnyProduct, ResolvedPushOptions } from './options.ts';
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
const ODD =
  'look at this row: the service fails at it, and may have applied it anyway; the next push looks at its product';
const DENIED = 'not sent, because the service denied every write of this kind before';

/** What a push works with. */
interface Parts {
  readonly options: ResolvedPushOptions;
  readonly results: Results;
  readonly rows: Rows;
  readonly memory: PushMemory;
  readonly calls: Calls;
}

/** What a round is to do. Nothing of it is done yet. */
interface Plan {
  /** Results that need no write. */
  readonly outcomes: readonly (readonly [PushRow, Outcome])[];
  readonly creates: readonly PushRow[];
  readonly updates: readonly PushRow[];
  /** Rows that wait for another look. */
  readonly open: readonly PushRow[];
  readonly missing: readonly Missing[];
}

export class Rounds {
  readonly #parts: Parts;
  /** The rows without a result. */
  readonly #open: Set<PushRow>;
  /** The last error of the calls of a row. */
  readonly #errors = new Map<PushRow, AnyAccountingError>();
  /** The fields that this run has sent in updates of a row, unless the service rejected them. */
  readonly #fieldsSent = new Map<PushRow, readonly string[]>();
  /** The writes of this round at which the service failed. */
  #broken: (readonly ['create' | 'update', PushRow])[] = [];
  /** The service's time when the list began, in ms, and the ids in it if an earlier run left a create. */
  #listedAt: number | undefined;
  readonly #listed = new Set<string>();
  readonly #changedKeys = new ChangedKeys();
  /** The rows whose product an earlier push may have created, but the list did not show. */
  #lost: readonly PushRow[] = [];
  /** The writes that were not sent because of what others of their kind met, and after how many 403s in a row. */
  #unsent: Record<'create' | 'update', PushRow[]> = { create: [], update: [] };
  #mostDenied = SAMPLE;
  #match: Match;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#open = new Set(parts.rows.byKey.values());
    this.#match = new Match(parts);
  }

  async run(): Promise<void> {
    const { calls, memory, options, results } = this.#parts;
    // The service may still be processing what an earlier push sent.
    if (!options.dryRun && this.#isAnySent()) await calls.waitUntilVisible();
    const first = await this.#firstPlan();
    if (first === undefined) return;
    this.#reportAll(first);
    results.begin('write', this.#open.size + first.missing.length);
    try {
      await this.#write(first);
      for (let round = 2; this.#open.size > 0 && round <= MAX_ROUNDS; round++) {
        await memory.save();
        await calls.waitUntilVisible();
        await this.#look();
        const plan = this.#plan(this.#open);
        this.#reportAll(plan);
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
    const { memory, options, results } = this.#parts;
    const plan = await this.#lookFirst();
    const counts = { ...results.report().counts };
    for (const [, { action }] of this.#planned(plan)) counts[action] += 1;
    const askedAt = monotonicMs();
    if (options.dryRun || !(await options.confirm(counts))) {
      results.isDryRun = true;
      for (const [subject, outcome] of this.#planned(plan)) results.add(subject, outcome);
      return undefined;
    }
    options.signal?.throwIfAborted();
    if (monotonicMs() - askedAt <= LONG_QUESTION_MS) return plan;
    const confirmed = new Set(plan.missing.map(({ id }) => id));
    // Both looks are in one round: a product that lags behind is missed once.
    for (const row of this.#open) {
      const state = memory.stateOf(row);
      if (state.is === 'made') memory.set(row, { ...state, misses: 0 });
    }
    const again = await this.#lookFirst();
    return { ...again, missing: again.missing.filter(({ id }) => confirmed.has(id)) };
  }

  /** All results, as they will be if every write succeeds. */
  *#planned({
    outcomes,
    creates,
    updates,
    open,
    missing,
  }: Plan): Generator<readonly [Subject, Outcome], void> {
    yield* outcomes;
    // The product of an open row seems to be deleted.
    for (const row of [...creates, ...open]) yield [row, { action: 'created' }];
    for (const row of updates) {
      const { id, fields } = this.#match.seen(row);
      yield [row, { action: 'updated', id, fields }];
    }
    for (const { id, key, patch } of missing) {
      const fields = Object.keys(patch ?? {});
      yield [{ key }, patch === undefined ? { action: 'deleted', id } : { action: 'updated', id, fields }];
    }
  }

  /** Reads the existing products, and plans. */
  async #lookFirst(): Promise<Plan> {
    const { memory, options, results, rows } = this.#parts;
    const missing = new MissingProducts(options, rows);
    this.#match = new Match(this.#parts, missing);
    const mayRepeat = this.#isAnySent();
    results.begin('read');
    for await (const page of existingProducts(options, results)) {
      this.#listedAt ??= page.serverTime?.getTime();
      this.#match.add(page);
      for (const [index, { id }] of page.records.entries()) {
        memory.see(id, page.sent[index]);
        if (mayRepeat) this.#listed.add(id);
      }
      results.advance(page.records.length);
    }
    await this.#lookUp([...this.#open]);
    const plan = this.#plan(this.#open);
    this.#lost = [...this.#open].filter((row) => memory.stateOf(row).is === 'sent');
    const inConflict = plan.outcomes.flatMap(([{ key }, { action }]) => (action === 'conflict' ? [key] : []));
    const uncertainKeys = [...inConflict, ...rows.failed.keys()];
    return { ...plan, missing: missing.checked(new Set(uncertainKeys.map(folded))) };
  }

  /** A later round reads the list only to find the product of a create. */
  async #look(): Promise<void> {
    const { options, results } = this.#parts;
    if (this.#isAnySent()) {
      this.#match = new Match(this.#parts);
      for await (const page of existingProducts(options, results)) this.#match.add(page);
    } else for (const row of this.#open) this.#match.expect(row);
    await this.#lookUp([...this.#open]);
  }

  /** Gets the known products of these rows that were not seen. */
  async #lookUp(rows: readonly PushRow[]): Promise<void> {
    const { memory } = this.#parts;
    const match = this.#match;
    const unseen = rows.filter(
      (row) => match.seen(row).id === undefined && memory.stateOf(row).is === 'made',
    );
    await this.#forEach(unseen, (row) => this.#lookUpOne(row));
    await this.#checkRenumbered(rows.filter((row) => match.seen(row).foundBy === 'id'));
  }

  async #lookUpOne(row: PushRow): Promise<void> {
    const { calls, memory } = this.#parts;
    const found = await calls.lookUpAlone((memory.stateOf(row) as MadeProduct).id);
    if (found instanceof Error) {
      this.#errors.set(row, found);
      this.#match.note(row, { lookUp: 'failed' });
    } else if (found.record === undefined) this.#match.note(row, { lookUp: 'missing' });
    else this.#match.addProduct(found);
  }

  /** The error of one row. Throws what ends the push. */
  #errorOf(thrown: unknown): AnyAccountingError {
    if (this.#parts.calls.stopsPush(thrown)) throw thrown;
    return thrown as AnyAccountingError;
  }

  /** The number of a product was changed upstream, or it was pushed under another key since. */
  async #checkRenumbered(renumbered: readonly PushRow[]): Promise<void> {
    const { memory } = this.#parts;
    const keysOf = await memory.keysOf(renumbered.map((row) => this.#match.seen(row).id as string));
    for (const row of renumbered) {
      const { id, otherKey = '' } = this.#match.seen(row);
      const others = (keysOf.get(id as string) ?? []).filter((key) => key !== row.key);
      if (others.includes(otherKey)) {
        memory.set(row, NONE);
        this.#match.expect(row);
      } else if (others.length > 0) {
        const conflict = `product ${id} was pushed under the key ${JSON.stringify(others[0])} too`;
        this.#match.note(row, { conflict });
      }
    }
  }

  #isAnySent(): boolean {
    for (const row of this.#open) if (this.#parts.memory.stateOf(row).is === 'sent') return true;
    return false;
  }

  #plan(rows: Iterable<PushRow>): Plan {
    const { memory } = this.#parts;
    const outcomes: [PushRow, Outcome][] = [];
    const creates: PushRow[] = [];
    const updates: PushRow[] = [];
    const open: PushRow[] = [];
    for (const row of rows) {
      const { sight, reason = '' } = this.#match.sightOf(row);
      const { state, step } = afterLook(memory.stateOf(row), sight);
      memory.set(row, state);
      const seen = this.#match.seen(row);
      if (step === 'send') creates.push(row);
      else if (step === 'open') open.push(row);
      else if (step === 'compare' && seen.fields.length > 0) updates.push(row);
      else if (step === 'compare') outcomes.push([row, this.#doneOf(row)]);
      else if (step === 'conflict') outcomes.push([row, conflictOf(seen, reason)]);
      else if (step === 'failed')
        outcomes.push([row, { action: 'failed', id: seen.id, error: this.#errors.get(row) }]);
      else outcomes.push([row, { action: 'failed', error: lacking(state, this.#match.unreadableFor(row)) }]);
    }
    return { outcomes, creates, updates, open, missing: [] };
  }

  #reportAll({ outcomes }: Plan): void {
    for (const [row, outcome] of outcomes) this.#report(row, outcome);
  }

  /** Sends creates, then updates. If the first of a kind are all denied, the rest is tried once more, as a larger sample. */
  async #write({ creates, updates }: Pick<Plan, 'creates' | 'updates'>): Promise<void> {
    const { calls } = this.#parts;
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
        this.#report(row, { action: 'failed', id: this.#match.seen(row).id, error, reason: DENIED });
    }
    this.#markBroken();
  }

  /** The next round sends a write only once at which the service failed, if it applied others. */
  #markBroken(): void {
    const { calls, memory } = this.#parts;
    for (const [kind, row] of this.#broken)
      memory.set(row, afterBrokenRound(memory.stateOf(row), calls.hasSucceeded(kind)));
    this.#broken = [];
  }

  /**
   * The last writes, because the service can have changed the key of a create whose response was lost: its product then
   * seems to be missing, until a repeat of the create returns its id.
   */
  async #writeMissing(missing: readonly Missing[]): Promise<void> {
    const { memory } = this.#parts;
    const lost = this.#lost.map((row) => memory.stateOf(row));
    if (missing.length === 0 || lost.some(({ is }) => is !== 'made')) return;
    const found = new Set(lost.map((state) => (state as MadeProduct).id));
    await memory.begin();
    await this.#forEach(missing, async (product) => {
      if (!found.has(product.id)) await this.#missing(product);
    });
    this.#parts.calls.throwIfStopped();
  }

  async #createAll(rows: readonly PushRow[]): Promise<void> {
    for (let from = 0; from < rows.length; from += CHUNK) await this.#create(rows.slice(from, from + CHUNK));
  }

  async #updateAll(rows: readonly PushRow[]): Promise<void> {
    if (rows.length > 0) await this.#parts.memory.begin();
    await this.#forEach(rows, (row) => this.#update(row));
  }

  async #create(rows: readonly PushRow[]): Promise<void> {
    const { memory, options } = this.#parts;
    if (rows.every((row) => this.#isRejected('create', row))) return;
    const { creates: mayRepeat } = options.settings.retry;
    for (const row of rows) memory.set(row, toSend(memory.stateOf(row), { draft: row.draft, mayRepeat }));
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
    const { calls, memory } = this.#parts;
    if (this.#isRejected('create', row)) return;
    const unsent = this.#changedKeys.check(row.key);
    if (unsent !== undefined) {
      this.#forgetUnsent(row);
      return this.#report(row, unsent);
    }
    const state = memory.stateOf(row) as SentCreate;
    const draft = withoutNull(JSON.parse(state.draft) as JsonFields);
    let created: RecordRow<AnyProduct>;
    try {
      created = await calls.create(draft, state.idempotencyKey, state.isOdd === true);
    } catch (thrown) {
      const end = endOfCreate(thrown, calls.wasUpAfter(thrown));
      const next = afterCreate(state, end);
      memory.set(row, next.state);
      if (isAccountingError(thrown)) this.#errors.set(row, thrown);
      const error = this.#errorOf(thrown);
      if (end.end === 'broken') this.#broken.push(['create', row]);
      if (next.step === 'failed') this.#report(row, { action: 'failed', error });
      if (next.step === 'odd') this.#report(row, { action: 'failed', error, reason: ODD });
      return;
    }
    const { id } = created.record;
    const next = afterCreate(state, { end: 'created', id, isNew: this.#isNew(created) });
    memory.set(row, next.state);
    if (next.step === 'created') {
      memory.see(id, created.row);
      if (this.#hasChangedKey(row, created)) return;
      this.#report(row, { action: 'created', id, notStored: this.#notStored(created, draft) });
      return;
    }
    if (await this.#differs(row)) await this.#update(row);
  }

  /**
   * Whether a product was created since the list began. An earlier run created those that are older, or listed: half the
   * wait before the list is more than two clocks of the service differ by.
   */
  #isNew({ record, row }: RecordRow<AnyProduct>): boolean {
    if (this.#listed.has(record.id)) return false;
    const createdAt = momentOf((row as JsonFields).createdAt);
    if (typeof createdAt !== 'number' || this.#listedAt === undefined) return true;
    return createdAt >= this.#listedAt - this.#parts.options.visibleAfterMs / 2;
  }

  /** Gets the known product of a row. Reports the row, unless its product still differs. */
  async #differs(row: PushRow): Promise<boolean> {
    this.#match.expect(row);
    await this.#lookUp([row]);
    const plan = this.#plan([row]);
    this.#reportAll(plan);
    return plan.updates.length > 0;
  }

  /** Sends the fields in which the product of a row differs. */
  async #update(row: PushRow): Promise<void> {
    const { calls, memory } = this.#parts;
    const state = memory.stateOf(row) as MadeProduct;
    const { fields } = this.#match.seen(row);
    if (this.#isRejected('update', row)) return;
    const patch = picked(JSON.parse(row.draft) as JsonFields, fields);
    let updated: RecordRow<AnyProduct>;
    try {
      updated = await calls.update(state.id, patch, state.isOdd);
    } catch (thrown) {
      if (isAccountingError(thrown)) this.#errors.set(row, thrown);
      const error = this.#errorOf(thrown);
      if (error.outcome === 'unknown' || error.outcome === 'applied')
        this.#fieldsSent.set(row, this.#fieldsOf(row));
      const end = endOfUpdate(error, calls.wasUpAfter(error));
      const next = afterUpdate(state, end);
      memory.set(row, next.state);
      if (end === 'broken') this.#broken.push(['update', row]);
      if (next.step === 'updated') return this.#report(row, this.#doneOf(row));
      const isFailed = next.step === 'look' ? await this.#differs(row) : next.step !== 'open';
      const reason = next.step === 'odd' ? ODD : undefined;
      if (isFailed) this.#report(row, { action: 'failed', id: state.id, error, reason });
      return;
    }
    this.#fieldsSent.set(row, this.#fieldsOf(row));
    this.#report(row, { ...this.#doneOf(row), notStored: this.#notStored(updated, patch) });
  }

  #notStored(returned: RecordRow<AnyProduct>, sent: JsonFields): PushDifference[] {
    return notStored(returned.row as JsonFields, sent, this.#parts.options.source.fields);
  }

  async #missing({ id, key, patch }: Missing): Promise<void> {
    const { calls, options, results, rows } = this.#parts;
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
  async #change(id: string, patch: JsonFields | undefined): Promise<Outcome> {
    const { calls } = this.#parts;
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
    if (this.#parts.calls.rejection(kind, this.#mostDenied) === undefined) return false;
    this.#forgetUnsent(row);
    this.#unsent[kind].push(row);
    return true;
  }

  /** The next push need not look for the product of a create that was not sent. */
  #forgetUnsent(row: PushRow): void {
    const { memory } = this.#parts;
    if (isUnsent(memory.stateOf(row))) memory.set(row, NONE);
  }

  /** Reports a conflict if the service stored another key than was sent. */
  #hasChangedKey(row: PushRow, created: RecordRow<AnyProduct>): boolean {
    const changed = this.#changedKeys.add(row.key, this.#parts.options.keyOf(created) ?? '');
    if (changed === undefined) return false;
    const { id } = created.record;
    const reason = `the service stored another key: ${changed}. Normalise the keys in key`;
    this.#report(row, { action: 'conflict', id, ids: [id], reason });
    return true;
  }

  /** All fields that this run sent for a row, with an update that ends now. */
  #fieldsOf(row: PushRow): readonly string[] {
    return [...new Set([...(this.#fieldsSent.get(row) ?? []), ...this.#match.seen(row).fields])];
  }

  /** A row whose product has its values. It is `created` if this run sent the create. */
  #doneOf(row: PushRow): Outcome {
    const { id, isOwn } = this.#parts.memory.stateOf(row) as MadeProduct;
    const fields = this.#fieldsSent.get(row) ?? [];
    if (isOwn) return { action: 'created', id, fields };
    if (fields.length > 0) return { action: 'updated', id, fields };
    return { action: 'unchanged', id: this.#match.seen(row).id ?? id };
  }

  #report(row: PushRow, outcome: Outcome): void {
    this.#open.delete(row);
    this.#parts.results.add(row, outcome);
  }

  /** What is still open fails with its last error. What is known of its create stays in the store. */
  #failOpen(): void {
    for (const row of this.#open) {
      const state = this.#parts.memory.stateOf(row);
      const error = this.#errors.get(row);
      const id = state.is === 'made' ? state.id : undefined;
      if (error !== undefined) this.#report(row, { action: 'failed', id, error, reason: STILL_OPEN });
    }
  }

  async #forEach<V>(items: readonly V[], work: (item: V) => Promise<void>): Promise<void> {
    await forEach(items, this.#parts.options.concurrency, work);
  }
}

/** Whether a create has not been sent under its key before. */
function isUnsent(state: CreateState): boolean {
  return state.is === 'sent' && isFirstSending(state);
}

function conflictOf({ id, otherIds, similar }: SeenProduct, reason: string): Outcome {
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
