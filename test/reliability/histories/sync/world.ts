import type { ReadOnlyCollection, Store } from 'accounting-data-sdk';
import { SeededRandom } from '../../../support/seeded-random.ts';
import { ID_STYLES } from '../service/ids.ts';
import { ORDERS } from '../service/orders.ts';
import { churn, type SimOptions, type SimRecord, SimServer } from '../service/server.ts';
import { Fault, simCollection, simTransport } from './transport.ts';

/** The process that ran the sync has died. Nothing that it does from then on has an effect. */
export class Crash extends Error {}

/** What is left out, the seed decides. */
export interface WorldOptions
  extends Partial<
    Pick<
      SimOptions,
      'order' | 'ids' | 'records' | 'hidden' | 'hiddenRun' | 'maxBytes' | 'emptyMoments' | 'late'
    >
  > {
  readonly seed: number;
  /** How likely the records change at each request. Default: 1, after every one. */
  readonly churn?: number;
  /** One collection alone. */
  readonly alone?: boolean;
  /** The page sizes of the service, one of them for each run. Left out: one that stays. */
  readonly pageSizes?: readonly number[];
}

/** How often a process fails. */
export interface FailureRates {
  /** How likely it dies at each of its steps. */
  readonly crash: number;
  /** How likely a request gets a 429, or its response is lost. */
  readonly fault: number;
}

/** The records of a company, a copy of them, and processes that bring the copy up to date and die. */
export class SyncWorld {
  readonly random: SeededRandom;
  readonly servers: ReadonlyMap<string, SimServer>;
  /** The copy: what a crash leaves. */
  readonly sink = new Map<string, Map<string, SimRecord>>();
  /** The states: what a crash leaves. */
  readonly states = new Map<string, string>();
  readonly #options: WorldOptions;
  readonly #skewMs: number;
  readonly #dated: boolean;
  /** How many responses are sent long after their data was read. */
  readonly #slow: number;
  #resting = false;

  constructor(options: WorldOptions) {
    const { seed, alone } = options;
    this.random = new SeededRandom(seed);
    this.#options = options;
    const names = (alone ?? this.random.chance(0.7)) ? ['accounts'] : ['accounts', 'budgets', 'budgetLines'];
    this.servers = new Map(names.map((name, index) => [name, this.#server(seed + index)]));
    for (const name of names) this.sink.set(name, new Map());
    this.#dated = this.random.chance(0.6);
    this.#skewMs = this.random.int(-240, 240) * 1000;
    this.#slow = this.random.pick([0, 0.1, 0.8]);
  }

  /** The client of a process that has just begun. It dies at the latest with this one's successor. */
  start(failureRates: FailureRates): Process {
    return new Process(this, failureRates);
  }

  /** Time passes between two runs. */
  live(): void {
    const { pageSizes } = this.#options;
    for (const server of this.servers.values()) {
      if (pageSizes !== undefined) server.pageSize = this.random.pick(pageSizes);
      server.advance(this.random.int(0, 600) * 1000);
      for (let change = this.random.int(0, 20); change > 0; change--) churn(server, this.random, 1);
    }
  }

  /** Every commit becomes visible, and nothing changes any more. No collection is empty, for its copy may not be. */
  rest(): void {
    this.#resting = true;
    for (const server of this.servers.values()) {
      server.isCalm = true;
      do server.insert();
      while (server.records.length === 0);
      server.advance(600_000);
    }
  }

  /** What the copy lacks or has in an old version. */
  lost(): string[] {
    return this.#inEach((copy, { records }) =>
      records.filter(({ id, version }) => copy.get(id)?.version !== version).map(({ id }) => `lost ${id}`),
    );
  }

  /** What the copy should have no more. */
  left(): string[] {
    return this.#inEach((copy, { records }) => {
      const there = new Set(records.map(({ id }) => id));
      return [...copy.keys()].filter((id) => !there.has(id)).map((id) => `left ${id}`);
    });
  }

  #inEach(find: (copy: ReadonlyMap<string, SimRecord>, server: SimServer) => string[]): string[] {
    return [...this.servers].flatMap(([name, server]) =>
      find(this.sink.get(name) ?? new Map(), server).map((what) => `${name}: ${what}`),
    );
  }

  collection(
    name: string,
    process: Process,
    pagination: 'keyset' | 'page',
  ): ReadOnlyCollection<{ id: string }> {
    const server = this.servers.get(name);
    if (server === undefined) throw new Error(`no ${name}`);
    const { churn: rate = 1, hidden = 0, hiddenRun = 0 } = this.#options;
    const transport = simTransport(server, {
      skewMs: this.#skewMs,
      dated: this.#dated,
      on: (moment) => {
        process.step();
        // A slow response: the data was read long before it was sent, and changes meanwhile.
        if (moment === 'read') {
          if (this.#resting || !this.random.chance(this.#slow)) return;
          server.advance(this.random.int(0, 600) * 1000);
          for (let change = 0; change < 6; change++) churn(server, this.random, rate);
          server.advance(this.random.int(0, 600) * 1000);
          return;
        }
        // Between the last two requests of a list, a deletion hides a record behind a hidden one: the guide names that.
        if (moment === 'response' && !this.#resting)
          churn(server, this.random, rate, hidden + hiddenRun === 0);
        if (process.meetsFault()) throw new Fault(moment === 'request' ? '429' : 'the response was lost');
      },
    });
    return simCollection(name, transport, pagination);
  }

  #server(seed: number): SimServer {
    const { random } = this;
    const { order, pageSizes, ids, records, hidden = 0, hiddenRun = 0 } = this.#options;
    const { maxBytes, emptyMoments = 0, late = 0 } = this.#options;
    return new SimServer({
      seed,
      order: order ?? ORDERS[seed % ORDERS.length] ?? 'none',
      pageSize: random.pick(pageSizes ?? [1, 2, 3, 7, 10, 10, 10]),
      ids: ids ?? random.pick(ID_STYLES),
      records: records ?? random.int(0, 40),
      reshuffles: random.chance(0.2),
      hidden,
      hiddenRun,
      ...(maxBytes === undefined ? {} : { maxBytes }),
      emptyMoments,
      late,
      showsFirst: true,
    });
  }
}

/** One process: everything that it touches goes through here, and ends when it dies. */
export class Process {
  readonly #world: SyncWorld;
  readonly #failureRates: FailureRates;
  #alive = true;

  constructor(world: SyncWorld, failureRates: FailureRates) {
    this.#world = world;
    this.#failureRates = failureRates;
  }

  get died(): boolean {
    return !this.#alive;
  }

  /** A step at which the process may die; nothing happens once it has. */
  step(): void {
    if (this.#alive && this.#world.random.chance(this.#failureRates.crash)) this.#alive = false;
    if (!this.#alive) throw new Crash('the process is dead');
  }

  meetsFault(): boolean {
    return this.#world.random.chance(this.#failureRates.fault);
  }

  /** The client, as `sync` takes it. */
  client(pagination: 'keyset' | 'page' = 'keyset'): Record<string, ReadOnlyCollection<{ id: string }>> {
    const names = [...this.#world.servers.keys()];
    return Object.fromEntries(names.map((name) => [name, this.#world.collection(name, this, pagination)]));
  }

  /** The store, beside the copy. */
  store(): Store {
    const { states } = this.#world;
    return {
      get: async (key) => {
        this.step();
        return states.get(key);
      },
      set: async (key, value) => {
        this.step();
        states.set(key, value);
        this.step();
      },
    };
  }

  /** The store as one sees it who writes the checkpoints together with the rows. */
  readOnlyStore(): Store {
    const { get } = this.store();
    return { get };
  }

  /** Upserts rows one by one: a crash may come between two of them. */
  upsert(name: string, records: readonly { readonly id: string }[]): void {
    const copy = this.#world.sink.get(name);
    for (const record of records) {
      this.step();
      copy?.set(record.id, record as SimRecord);
    }
  }

  /** Upserts rows and writes the checkpoint, both or neither. */
  transact(
    name: string,
    batch: { records: readonly { id: string }[]; key: string; checkpoint: string },
  ): void {
    this.step();
    for (const record of batch.records) this.#world.sink.get(name)?.set(record.id, record as SimRecord);
    this.#world.states.set(batch.key, batch.checkpoint);
    this.step();
  }

  remove(name: string, ids: readonly string[]): void {
    for (const id of ids) {
      this.step();
      this.#world.sink.get(name)?.delete(id);
    }
  }
}
