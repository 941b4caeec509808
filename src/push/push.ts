// The run: reads the rows and what earlier runs left, then goes through the rounds.

import { isAccountingError } from '../errors/guards.ts';
import { PushError } from '../errors/push-error.ts';
import { UnexpectedResponseError } from '../errors/unexpected-response-error.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import { withTimeout } from '../internal/with-timeout.ts';
import { admissionOf } from '../reading/admission.ts';
import { CallerCode } from '../reading/caller-code.ts';
import { isOtherCompany } from '../reading/company.ts';
import type { SyncSource } from '../reading/source.ts';
import { guardedStore } from '../reading/store.ts';
import type { PushReport } from '../reports/push-report.ts';
import type { BodyOf } from '../schemas/record.ts';
import { Calls } from './calls.ts';
import { known } from './create.ts';
import { Looks } from './look.ts';
import { PushMemory } from './memory.ts';
import {
  type AnyProduct,
  type PushOptions,
  type PushTarget,
  type ResolvedPushOptions,
  resolvePushOptions,
} from './options.ts';
import { keptRows, type Plan, plannedResults, planOf } from './plan.ts';
import { Results } from './results.ts';
import { type PushRow, type Rows, readRows } from './rows.ts';
import { beginRun, type Hold, holdStore } from './runs.ts';
import { Writes } from './writes.ts';

/** The draft that a collection creates. */
export type DraftIn<Collection> = Collection extends {
  create(draft: BodyOf<infer Draft extends object, PropertyKey>, ...args: never[]): unknown;
}
  ? Draft
  : never;

/**
 * Creates or updates products, so that each row has one product with its values.
 *
 * ```ts
 * const store = fileStore('.push');
 * const report = await push(client.products, { tenant: 'acme', rows, key: 'productNumber', store });
 * ```
 * All rows are read first, then the existing products are compared with them, then only the differences are written.
 * Amounts are compared as decimals; `null` equals a missing field; a field that a row leaves out keeps its value. An
 * invalid row fails and the others continue; `onResult` is called for each. A create with an unknown outcome is looked
 * for before it is sent again, in this run and in the next, so that no product is created twice: see the guide to pushing.
 * Nothing is deleted, and no product is changed that no row has.
 *
 * @throws PushError if the push stopped: the key was rejected (401) or lacks a scope, the service was down for
 * `maxOutageMs`, or rows, store or list could not be read. ConcurrentRunError if another push of the tenant is running,
 * or if the store is too slow to show that there is no other. InvalidInputError for invalid options, and for the API key
 * of another company than the one that the store was written for. The signal's own reason if it stopped the push.
 */
export async function push<
  Collection extends PushTarget<{ id: string }, never, never>,
  Row extends DraftIn<Collection> = DraftIn<Collection>,
>(products: Collection, options: PushOptions<DraftIn<Collection>, Row>): Promise<PushReport> {
  const resolved = resolvePushOptions(
    products as unknown as SyncSource<AnyProduct>,
    options as unknown as PushOptions<object>,
  );
  const event = { name: 'push', tenant: resolved.tenant, collections: ['products'] } as const;
  return await resolved.source.inRun(event, () => pushOnce(resolved));
}

async function pushOnce(options: ResolvedPushOptions): Promise<PushReport> {
  const { source, tenant, signal } = options;
  const end = beginRun(source.baseUrl, tenant);
  const results = new Results(options, source.callbackFailed);
  try {
    signal?.throwIfAborted();
    await run(options, results);
    return results.report();
  } catch (error) {
    if (signal?.aborted && error === signal.reason) throw error;
    if (isAccountingError(error, 'concurrent_run')) throw error;
    if (isOtherCompany(error)) throw error;
    throw new PushError(results.report(), error);
  } finally {
    end();
  }
}

async function run(given: ResolvedPushOptions, results: Results): Promise<void> {
  const { signal, source } = given;
  const callerCode = new CallerCode({ signal, warn: source.warn, waits: () => results.wait(undefined) });
  const options = { ...given, store: guardedStore(given.store, callerCode) };
  const rows = await readRows(options, results);
  const hold = options.dryRun ? undefined : await holdStore({ ...given, callerCode, onWait: results.wait });
  try {
    const memory = new PushMemory(options, hold);
    await memory.load(rows);
    const own = guarded(options, { memory, callerCode, results });
    await admitFirstKey(own);
    const calls = new Calls(own, results, hold);
    if (hold !== undefined) await waitForEarlier(own, { rows, memory, calls, hold });
    await goThroughRounds({ options: own, results, rows, memory, calls });
  } finally {
    // A store that fails has been reported, or fails the next push.
    await hold?.end().catch(() => undefined);
  }
}

/** The same options, whose calls are sent only with keys of the company. */
function guarded(
  options: ResolvedPushOptions,
  { memory, callerCode, results }: { memory: PushMemory; callerCode: CallerCode; results: Results },
): ResolvedPushOptions {
  const { tenant, sameCompany, source } = options;
  const list = { ...options.list, callerCode };
  const settings = { ...list, beforeSend: results.sent };
  const memories = () => memory.memories();
  memory.admission = admissionOf({ tenant, sameCompany, sources: [source], settings, memories });
  const { admission } = memory;
  const confirm: typeof options.confirm = (counts) =>
    callerCode.run('confirm', () => options.confirm(counts), 'question');
  const call = { ...options.call, admission, callerCode };
  return { ...options, list: { ...list, admission }, call, confirm };
}

/** Before anything is read. The key may be rejected, or not come in time: then the first call says so. */
async function admitFirstKey({ source, settings, list, signal }: ResolvedPushOptions): Promise<void> {
  const { admission, callerCode } = list;
  const late = new Error('the key is late');
  const ask = () =>
    withTimeout(() => source.askForKey(), {
      signal: undefined,
      ms: settings.timeoutMs,
      onTimeout: () => late,
    });
  const key = await (callerCode ? callerCode.run('apiKey', ask) : ask()).catch((error: unknown) => {
    if (error !== late) throw error;
  });
  signal?.throwIfAborted();
  if (key === undefined) return;
  await admission?.admit(key).catch((error: unknown) => {
    if (!isAccountingError(error, 'unauthenticated')) throw error;
  });
}

/** The service may still process what an earlier push sent, and show it late. */
async function waitForEarlier(
  { settings, visibleAfterMs }: ResolvedPushOptions,
  { rows, memory, calls, hold }: Pick<Run, 'rows' | 'memory' | 'calls'> & { readonly hold: Hold },
): Promise<void> {
  const isAnySent = [...rows.values()].some(([row]) => memory.stateOf(row).is === 'sent');
  // One that was stopped, not killed, sends until its requests time out.
  const timeoutMs = Number.isFinite(settings.timeoutMs) ? settings.timeoutMs : 30_000;
  if (hold.tookOver) await calls.wait(timeoutMs + visibleAfterMs);
  else if (isAnySent) await calls.wait(visibleAfterMs);
}

/** What a run works with. */
interface Run {
  readonly options: ResolvedPushOptions;
  readonly results: Results;
  readonly rows: Rows;
  readonly memory: PushMemory;
  readonly calls: Calls;
}

const MAX_ROUNDS = 3;
/** After a longer question, others may have written what was planned. */
const LONG_QUESTION_MS = 5_000;
const STILL_OPEN = 'run the push again: it continues with this row';

/** Each round looks, plans and sends. What it leaves open is the work of the next one, in this push or the next. */
async function goThroughRounds(run: Run): Promise<void> {
  const { calls, memory, results } = run;
  const looks = new Looks(run);
  const writes = new Writes(run);
  let plan = await firstPlan(run, looks);
  if (plan === undefined) return;
  const { creates, updates, open: waiting } = plan;
  applyPlan(run, plan);
  results.begin('write', creates.length + updates.length + waiting.length);
  let open: readonly PushRow[] = [];
  try {
    for (let round = 1; ; round++) {
      open = await carryOut(run, plan, { looks, writes });
      if (open.length === 0 || round === MAX_ROUNDS) break;
      await memory.save();
      await calls.waitUntilVisible();
      plan = planOf(looks.views(await looks.again(open), open));
      applyPlan(run, plan);
    }
  } catch (error) {
    for (const row of results.errors.keys()) failOpen(run, row as PushRow);
    // What is known is worth keeping, but the reason why the push stopped is the error to report.
    await memory.save().catch(() => undefined);
    throw error;
  }
  for (const row of open) failOpen(run, row);
  await memory.save();
}

/** The plan of the first round, confirmed; undefined if nothing may be written. */
async function firstPlan({ options, results, rows, memory }: Run, looks: Looks): Promise<Plan | undefined> {
  const look = async (): Promise<Plan> => {
    const match = await looks.first();
    const kept = keptRows(rows, (row) => match.hasExact(row));
    memory.share(kept.sharing);
    const plan = planOf(looks.views(match, kept.rows));
    for (const [row, state] of plan.states) memory.set(row, state);
    return { ...plan, results: [...kept.duplicates, ...plan.results] };
  };
  const plan = await look();
  const counts = { ...results.report().counts };
  for (const [, { action }] of plannedResults(plan, false)) counts[action] += 1;
  const askedAt = monotonicMs();
  if (options.dryRun || !(await options.confirm(counts))) {
    results.isDryRun = true;
    for (const [row, outcome] of plannedResults(plan, options.dryRun)) results.add(row, outcome);
    return undefined;
  }
  options.signal?.throwIfAborted();
  if (monotonicMs() - askedAt <= LONG_QUESTION_MS) return plan;
  // Both looks are in one round: what lags behind is missed once, and the second list replaces the first.
  for (const row of [...rows.values()].flat()) {
    const state = memory.stateOf(row);
    if (state.is === 'made') memory.set(row, known(state));
  }
  return await look();
}

/** Takes over what a plan says of its rows. */
function applyPlan({ memory, results }: Run, plan: Plan): void {
  for (const [row, state] of plan.states) memory.set(row, state);
  for (const [row, outcome] of plan.results) results.add(row, outcome);
}

/** Sends what a plan says, and looks at once at products that a response did not show. Returns the rows that stay open. */
async function carryOut(
  run: Run,
  plan: Plan,
  { looks, writes }: { readonly looks: Looks; readonly writes: Writes },
): Promise<PushRow[]> {
  const open = [...plan.open];
  for (let work = plan; ; ) {
    const left = await writes.send(work);
    open.push(...left.open);
    if (left.look.length === 0) return open;
    const next = planOf(looks.views(await looks.alone(left.look), left.look));
    applyPlan(run, next);
    const sent = new Set(work.updates.map(({ row }) => row));
    // An update that did not change its product, or not yet, is repeated in the next round.
    open.push(...next.open, ...next.updates.flatMap(({ row }) => (sent.has(row) ? [row] : [])));
    work = { ...next, updates: next.updates.filter(({ row }) => !sent.has(row)) };
  }
}

/** A row that is still open fails with its last error. What is known of its create stays in the store. */
function failOpen({ memory, results }: Run, row: PushRow): void {
  const state = memory.stateOf(row);
  const id = state.is === 'made' ? state.id : undefined;
  const { keys = 0 } = state.is === 'sent' ? state : {};
  const reason = keys > 1 ? `the service may hold up to ${keys} products of it; ${STILL_OPEN}` : STILL_OPEN;
  const error = results.errors.get(row) ?? notFoundYet(id);
  results.add(row, { action: 'failed', id, error, reason });
}

function notFoundYet(id = ''): UnexpectedResponseError {
  return new UnexpectedResponseError(
    `Product ${id} was not found under its id, which another look has to confirm.`,
    { method: 'GET', path: `/products/${id}` },
    { status: 200, reason: 'wrong_record' },
  );
}
