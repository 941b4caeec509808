import { isAccountingError, isForbidden } from '../errors/guards.ts';
import { SyncError, type SyncFailure } from '../errors/sync-error.ts';
import { settled } from '../internal/callback.ts';
import { Semaphore } from '../internal/semaphore.ts';
import { type CompanyMemory, isOtherCompany } from '../reading/company.ts';
import { type AnySource, runSource } from '../reading/source.ts';
import { type Evidence, verdictOfAll } from '../reports/evidence.ts';
import type { SyncReport } from '../reports/sync-report.ts';
import { CallStopped } from '../transport/call-options.ts';
import { isOutageError } from '../transport/outage.ts';
import type { OutageClock } from '../transport/outage-clock.ts';
import type { Batch } from './batch.ts';
import { type AnyCollectionRun, CollectionRun } from './collection-run.ts';
import { endOfPause } from './limit/pause-end.ts';
import { planRound } from './limit/round.ts';
import { exceededLimit, RunLimit } from './limit/run-limit.ts';
import { couldRead, evidenceAfter } from './run-state.ts';
import type { ResolvedSync } from './sync-options.ts';
import type { OpenTarget } from './target.ts';
import type { InTarget } from './target-run.ts';
import { Turns } from './turns.ts';

/** The same for attempts that may take any time. */
const LONGEST_GRACE_MS = 30_000;

/**
 * The collections of one tenant, level by level: parents before children. The collections of a level run at the same
 * time, as many as `concurrency` allows. A failure ends only its own collection; a rejected key and a service that is
 * down stop all of them.
 */
export class TenantRun {
  readonly #options: ResolvedSync;
  #copy: OpenTarget | undefined;
  readonly #stop = new AbortController();
  readonly #consumer = new Semaphore(1);
  readonly #outage: OutageClock;
  readonly limit: RunLimit | undefined;
  readonly #levels: readonly (readonly AnyCollectionRun[])[];
  readonly #startedAt = new Date();
  readonly #errors = new Map<AnyCollectionRun, unknown>();
  /** Those of which a batch was committed. */
  readonly #committed = new Set<AnyCollectionRun>();
  #stopped: SyncFailure['stop'];
  #inTarget: InTarget | undefined;
  /** The error of a key that was not admitted, or of a target that another run writes to. */
  #rejected: unknown;

  constructor(names: readonly string[], sources: Readonly<Record<string, AnySource>>, options: ResolvedSync) {
    this.#options = options;
    this.#outage = options.settings.clock;
    this.limit = options.stopAfter && new RunLimit(options.stopAfter, graceOf(sources, names, options));
    const { signal } = this.#stop;
    const copy = () => this.#copy as OpenTarget;
    const calls = () => this.#inTarget;
    const keepsCompany = options.target === undefined;
    const context = {
      options,
      copy,
      calls,
      keepsCompany,
      signal,
      consumer: this.#consumer,
      limit: this.limit,
    };
    this.#levels = inLevels(names, sources).map((level) =>
      level.map((name) => {
        const others = () => this.#evidenceOfOthers(name);
        return new CollectionRun(sources[name] as AnySource, { ...context, name, others });
      }),
    );
  }

  get #runs(): readonly AnyCollectionRun[] {
    return this.#levels.flat();
  }

  /**
   * Runs to the end. Rejects with a SyncError, with the reason of the caller's signal if that stops it, with the error of
   * a key that was not admitted, or with that of a target that another run writes to.
   */
  async run(copy: OpenTarget, inTarget: InTarget): Promise<SyncReport> {
    this.#copy = copy;
    this.#inTarget = inTarget;
    const { signal } = this.#options;
    const stop = () => this.#stop.abort(signal?.reason);
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop);
    if (this.limit) {
      this.limit.onTime = () => {
        for (const run of this.#runs) run.pause.inTime();
      };
    }
    try {
      if (this.limit === undefined) await this.#runLevels(this.#levels);
      else await this.#runRound();
    } finally {
      signal?.removeEventListener('abort', stop);
    }
    const isFinished = this.#runs.every(
      ({ state: { status } }) => status === 'done' || status === 'forbidden',
    );
    if (signal?.aborted && !isFinished) throw signal.reason;
    if (this.#rejected !== undefined) throw this.#rejected;
    this.#failPaused();
    const failure = this.#failure();
    if (failure !== undefined)
      throw new SyncError(this.report(), failure, this.#options.settings.outcomes.facts);
    return this.report();
  }

  /** What earlier runs have left of the company in the states: products first, because they have `createdAt`. */
  async *memories(): AsyncGenerator<CompanyMemory> {
    const isProducts = ({ collection }: AnyCollectionRun) => collection === 'products';
    for (const run of this.#runs.toSorted((a, b) => Number(isProducts(b)) - Number(isProducts(a))))
      yield* run.memories();
  }

  /** Reports a wait for the database, by the first collection that has not ended, because all that are left wait. */
  waits(waitMs: number | undefined): void {
    const run = this.#runs.find(({ state }) => state.status === 'stopped') ?? this.#runs.at(-1);
    run?.waits(waitMs);
  }

  /** How far the collections are. */
  report(): SyncReport {
    const collections = this.#runs.map((run) => run.report());
    const paused = collections.some(({ status }) => status === 'paused' || status === 'not_begun');
    return {
      tenant: this.#options.tenant,
      startedAt: this.#startedAt,
      endedAt: new Date(),
      paused,
      // It may end before a wait that would end after the limit of time.
      exceededLimit: paused && this.limit ? (exceededLimit(this.limit.state) ?? 'ms') : undefined,
      lastFailure: collections.find(({ lastFailure }) => lastFailure !== undefined)?.lastFailure,
      resumeAfterMs: Math.max(
        0,
        ...this.#runs.map(({ state, pause }) => (state.status === 'paused' ? pause.resumeAfterMs : 0)),
      ),
      ...verdictOfAll(
        collections.flatMap(({ status, evidence }) => (status === 'forbidden' ? [] : [evidence])),
      ),
      records: collections.reduce((sum, { records }) => sum + records, 0),
      collections,
    };
  }

  #evidenceOfOthers(name: string): readonly Evidence[] {
    return this.#runs
      .filter(({ collection }) => collection !== name)
      .map(({ state }) => evidenceAfter(state));
  }

  /** Fails collections that the limit has ended while their requests failed, unless the next run may read more. */
  #failPaused(): void {
    // What stopped the run is its failure.
    if (this.#stopped !== undefined) return;
    const ended = this.#runs.flatMap((run) => {
      const { status, lastFailure } = run.report();
      if (status !== 'paused' && status !== 'not_begun') return [];
      const isOutage = isOutageError(lastFailure);
      return [{ run, lastFailure, isOutage, hasCommitted: this.#committed.has(run) }];
    });
    const hasCommitted = this.#committed.size > 0;
    const hasDone = this.#runs.some((run) => run.state.status === 'done' && this.#committed.has(run));
    const end = endOfPause(ended, { isDown: this.#outage.isRunning, hasCommitted, hasDone });
    if (end === 'pause') return;
    const failing = ended.filter(({ lastFailure }) => lastFailure !== undefined);
    const [first] = failing;
    for (const { run, lastFailure } of end === 'outage' ? failing.slice(0, 1) : failing)
      this.#errors.set(run, lastFailure);
    if (end === 'outage') this.#stopped = { reason: 'outage', error: first?.lastFailure };
  }

  /** Why the sync fails; undefined if it succeeds. */
  #failure(): SyncFailure | undefined {
    const { onForbidden } = this.#options;
    const mayNotRead = ({ state }: AnyCollectionRun) => state.status === 'forbidden';
    const reportsForbidden = onForbidden === 'report' && !this.#runs.every(mayNotRead);
    const failed = this.#runs.filter(
      (run) => this.#errors.has(run) && !(reportsForbidden && mayNotRead(run) && !couldRead(run.state)),
    );
    if (failed.length === 0) return undefined;

    return {
      errors: failed.map((run) => ({ collection: run.collection, error: this.#errors.get(run) })),
      stop: this.#stopped,
      revoked: failed
        .filter((run) => mayNotRead(run) && couldRead(run.state))
        .map(({ collection }) => collection),
    };
  }

  async #runLevels(
    levels: readonly (readonly AnyCollectionRun[])[],
    runOne = (run: AnyCollectionRun) => this.#runOne(run),
  ): Promise<void> {
    const runs = levels.flatMap((runs, level) => runs.map((run) => ({ run, level })));
    const { concurrency } = this.#options;
    const turns = new Turns(
      runs.map(({ level }) => level),
      {
        // Until the first batch, which no limit prevents, collections are read one at a time, so that none is paused
        // because of one that turns out to be forbidden.
        most: this.limit === undefined ? concurrency : 1,
        signal: this.#stop.signal,
        changed: () => this.#outage.changed(),
      },
    );
    this.limit?.firstBatch.then(() => turns.allow(concurrency));
    const one = async (run: AnyCollectionRun, position: number) => {
      run.outage = this.#outage.view(turns.way(position));
      await turns.begin(position).catch(() => undefined);
      await runOne(run);
      turns.end(position);
    };
    await Promise.all(runs.map(({ run }, position) => one(run, position)));
  }

  async #runRound(): Promise<void> {
    const { mode } = this.#options;
    const plan = await this.#consumer
      .run(() => planRound(this.#levels, mode))
      .catch((error: unknown) => {
        if (!(error instanceof CallStopped)) throw error;
        // The first read of a store failed.
        for (const [at, run] of this.#runs.entries())
          run.end('not_begun', at === 0 ? error.cause : undefined);
      });
    if (plan === undefined) return;
    const { left, done } = plan;
    // What is left can be forbidden, or fail each time: the others must be read again anyway.
    const isOver = () =>
      left.flat().every((run) => ['forbidden', 'failed'].includes(run.state.status) || isStuck(run));
    const isDone = new Set(done.flat());
    await this.#runLevels([...left, ...done], async (run) => {
      if (!isDone.has(run) || isOver()) await this.#runOne(run);
      else await this.#consumer.run(() => run.skip());
    });
  }

  async #runOne(run: AnyCollectionRun): Promise<void> {
    if (this.#stop.signal.aborted) return;
    if (this.limit?.mayBegin(this.#outage.hasFailed) === false) return run.end('not_begun');
    // A consumer may use this package too, and throw an error of another service.
    let isOfConsumer = false;
    try {
      for await (const batch of run.batches()) {
        isOfConsumer = true;
        await this.#deliver(run, batch);
        isOfConsumer = false;
      }
    } catch (error) {
      this.#fail(run, error, isOfConsumer);
    }
  }

  #deliver(run: AnyCollectionRun, batch: Batch<{ id: string }>): Promise<void> {
    return this.#consumer.run(async () => {
      // The stop may have come while the batch waited here.
      this.#stop.signal.throwIfAborted();
      await run.beforeConsumer();
      const write = (this.#inTarget as InTarget)
        .remember()
        .then(() => (this.#copy as OpenTarget).onBatch(batch));
      const written = await settled(write);
      await run.commit(batch, written);
      this.#committed.add(run);
    });
  }

  #fail(run: AnyCollectionRun, error: unknown, isOfConsumer: boolean): void {
    const { signal } = this.#stop;
    const reason = isOfConsumer ? undefined : this.#stopReason(error);
    // Stopped by the signal, a rejected key or an outage: not a failure of this collection.
    if (signal.aborted) return;
    // No other collection could go on. What functions of the caller throw may be of another run, of whatever they use.
    const hasLostTurn = this.#options.target !== undefined && isAccountingError(error, 'concurrent_run');
    if (hasLostTurn || (!isOfConsumer && isOtherCompany(error))) {
      this.#rejected = error;
      this.#stop.abort(error);
      return;
    }
    if (error instanceof CallStopped) {
      run.end('paused', error.cause);
      return;
    }
    this.#errors.set(run, error);
    run.end(!isOfConsumer && isForbidden(error) ? 'forbidden' : 'failed');
    if (reason === undefined) return;
    this.#stopped = { reason, error };
    this.#stop.abort(error);
  }

  /** Why no other collection would succeed either. */
  #stopReason(error: unknown): 'key_rejected' | 'outage' | undefined {
    if (isAccountingError(error, 'unauthenticated')) return 'key_rejected';
    return this.#outage.isOver && isOutageError(error) ? 'outage' : undefined;
  }
}

/** Whether the requests of a run fail, and it has read nothing: it was paused, or waits. */
function isStuck({ state, lastFailure, outage }: AnyCollectionRun): boolean {
  const failure = state.status === 'stopped' ? outage?.failure : lastFailure;
  return ['paused', 'stopped'].includes(state.status) && failure !== undefined && state.counts.pages === 0;
}

/** How long the first batch of a run is waited for beyond its limit of time: one attempt. */
function graceOf(
  sources: Readonly<Record<string, AnySource>>,
  [name = '']: readonly string[],
  { settings }: ResolvedSync,
): number {
  const source = sources[name];
  const timeoutMs = settings.timeoutMs ?? (source && runSource(source).timeoutMs) ?? 0;
  return Number.isFinite(timeoutMs) ? timeoutMs : LONGEST_GRACE_MS;
}

/**
 * The names in levels, parents before children. Each source names the segment of its parent, which is looked up among
 * all sources, even those that are not read: bomLines come after products even if boms are not read.
 */
function inLevels(
  names: readonly string[],
  sources: Readonly<Record<string, AnySource>>,
): readonly (readonly string[])[] {
  const bySegment = new Map(Object.values(sources).map((source) => [source?.segment, source]));
  const levelOf = (name: string) => {
    let level = 0;
    let parent = sources[name]?.parent;
    while (parent !== undefined && bySegment.has(parent)) {
      level += 1;
      parent = bySegment.get(parent)?.parent;
    }
    return level;
  };

  const levels: string[][] = [];
  for (const name of names) {
    const level = levelOf(name);
    levels[level] = [...(levels[level] ?? []), name];
  }
  // A level of which no collection is read is a hole in the array.
  return levels.filter((level) => level !== undefined);
}
