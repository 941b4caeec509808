// One seeded history of a shop that pushes its rows: lost responses, errors, other writers, crashes, several runs.

import {
  type AccountingRecord,
  type Client,
  createClient,
  isAccountingError,
  memoryStore,
  type Product,
  type ProductDraft,
  type PushReport,
  type PushResult,
  push,
  type Store,
} from 'accounting-data-sdk';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { SeededRandom } from '../../../support/seeded-random.ts';
import { runToEnd } from '../../../support/virtual-clock.ts';

type Place = 'a request' | 'store.get' | 'store.set' | 'onResult';

/** When a process is killed, and whether what it called then is carried out. */
interface Death {
  readonly where: Place;
  readonly atCall: number;
  readonly isCarriedOut: boolean;
}

/** The process that runs one push. It can be killed at each request, at each call of its store and in `onResult`. */
class Process {
  readonly #controller = new AbortController();
  readonly #death: Death | undefined;
  #calls = 0;

  constructor(death: Death | undefined) {
    this.#death = death;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Makes a call to the outside. The last one is carried out or not, and the process does not see the result. */
  async call<V>(where: Place, work: () => V | Promise<V>): Promise<V> {
    this.signal.throwIfAborted();
    if (!this.#diesIn(where)) return await work();
    if (this.#death?.isCarriedOut) await Promise.resolve(work()).catch(() => undefined);
    this.#kill(where);
    throw this.signal.reason;
  }

  /** Passes a point at which the process can die. */
  pass(where: Place): void {
    if (this.#diesIn(where)) this.#kill(where);
  }

  store(store: Store): Store {
    return {
      get: (key) => this.call('store.get', () => store.get(key)),
      set: (key, value) => this.call('store.set', () => store.set?.(key, value)),
    };
  }

  #diesIn(where: Place): boolean {
    if (this.#death?.where !== where) return false;
    this.#calls += 1;
    return this.#calls === this.#death.atCall;
  }

  #kill(where: Place): void {
    this.#controller.abort(new Error(`killed in ${where}`));
  }
}

/** Stands between push and the client: makes push worse on purpose. */
export type Mutation = (products: Client['products']) => object;

/** One run of a push, and what the service committed for it. */
export interface Run {
  readonly rows: readonly ProductDraft[];
  readonly results: readonly PushResult[];
  /** Undefined if the run was killed or rejected. */
  readonly report: PushReport | undefined;
  readonly error: unknown;
  readonly commits: Sandbox['journal'];
}

export interface PushHistory {
  readonly sandbox: Sandbox;
  readonly runs: readonly Run[];
  /** A run without faults and other writers, and the same once more. */
  readonly last: Run;
  readonly again: Run;
}

/** Whether no row has the product. */
function isOfOthers(product: object): boolean {
  return String((product as ProductDraft).productNumber).startsWith('X');
}

/** Whether the service leaves a product out of lists, so that pages are short. */
function isHidden(product: AccountingRecord): boolean {
  return isOfOthers(product) && Number(product.id) % 2 === 0;
}

/** Some services store keys in another case, or without the white space around them. */
const KEYS = Array.from({ length: 12 }, (_, n) => (n % 4 === 0 ? `K${n} ` : `K${n}`));
const MONEY = ['5', '5.0', '12.5000', '0', '129.99'];

export async function playPush(
  seed: number,
  mutation: Mutation = (products) => products,
): Promise<PushHistory> {
  const random = new SeededRandom(seed);
  const isDelayed = random.chance(0.25);
  const commitDelayMs = isDelayed ? 100_000 : 0;
  const hasIdempotency = isDelayed || random.chance(0.7);
  random.chance(0.4);
  const timestampOffsetMs = random.pick([0, 0, 0, 120_000, 7_200_000, -18_000_000]);
  const order = random.pick(['id-asc', 'id-asc', 'id-desc', 'created-asc', 'updated-desc', 'none'] as const);
  const hides = random.chance(0.3);
  const sandbox = createSandbox({
    seed,
    // In another order every id counts: a small page can be hidden whole, and an empty page ends a read by page. The
    // products behind it are then neither found nor, if the key is unique, created.
    pageSize: random.int(hides && !order.startsWith('id') ? 5 : 2, 10),
    order,
    ties: random.pick(['id-asc', 'id-asc', 'each-page', 'each-response']),
    hiddenRecords: hides ? isHidden : 0,
    timestamps: random.pick(['seconds', 'offset', 'milliseconds']),
    nullFields: random.pick(['sent', 'omitted']),
    idempotency: hasIdempotency ? { storeRejections: random.chance(0.5) } : { replay: 'ignored' },
    allowedStatuses: ['active', 'archived'],
    timestampOffsetMs,
    commitDelayMs,
    ids: { cast: random.chance(0.3) },
    text: random.chance(0.3)
      ? { fields: ['productNumber'], trim: true, letters: random.pick(['as-sent', 'lower', 'upper']) }
      : {},
    lockedRecords: random.chance(0.2) ? 0.1 : 0,
    uniqueFields: random.chance(0.3) ? ['productNumber'] : [],
    uniqueStatus: random.pick([409, 422]),
  });
  // Timestamps behind `Date` hide changes from a read that begins at `asOf`, unless the lookback covers the difference.
  const lookbackMs = 120_000 + Math.max(0, -timestampOffsetMs);
  const history = new Shop(sandbox, random, {
    mutation,
    hasIdempotency,
    lookbackMs,
    commitDelayMs,
  });
  return await history.play();
}

interface ShopOptions {
  readonly mutation: Mutation;
  readonly hasIdempotency: boolean;
  readonly lookbackMs: number;
  readonly commitDelayMs: number;
}

class Shop {
  readonly #sandbox: Sandbox;
  readonly #random: SeededRandom;
  readonly #store = memoryStore();
  readonly #options: ShopOptions;
  #rows: ProductDraft[] = [];
  #othersWrite = true;

  constructor(sandbox: Sandbox, random: SeededRandom, options: ShopOptions) {
    this.#sandbox = sandbox;
    this.#random = random;
    this.#options = options;
  }

  async play(): Promise<PushHistory> {
    const { store } = this.#sandbox;
    for (const key of KEYS)
      if (this.#random.chance(0.4)) store.products.insert({ ...this.#draft(key), status: 'active' });
    this.#showAll();
    this.#rows = KEYS.filter(() => this.#random.chance(0.7)).map((key) => this.#draft(key));
    this.#sandbox.onRequest(() => {
      if (this.#othersWrite && this.#random.chance(0.2)) this.#write();
    });
    const runs: Run[] = [];
    for (let left = this.#random.int(1, 4); left > 0; left--) {
      runs.push(await this.#run(true));
      this.#sandbox.clock.advance(this.#random.pick([0, 500, 5_000, 600_000]));
      this.#changeRows();
      if (this.#random.chance(0.5)) this.#writeToRows(this.#random.int(1, 2));
    }
    this.#othersWrite = false;
    this.#showAll();
    const last = await this.#run(false);
    this.#showAll();
    const again = await this.#run(false);
    this.#showAll();
    return { sandbox: this.#sandbox, runs, last, again };
  }

  async #run(isHarsh: boolean): Promise<Run> {
    const { mutation, hasIdempotency, lookbackMs, commitDelayMs } = this.#options;
    const { products } = this.#sandbox.store;
    const existing =
      isHarsh && this.#random.chance(0.3)
        ? { products: products.all().map((product) => ({ ...product }) as Product), asOf: this.#now() }
        : undefined;
    if (existing !== undefined) {
      this.#sandbox.clock.advance(300_000);
      this.#writeToRows(this.#random.int(0, 3));
    }
    if (isHarsh) this.#addFaults();
    const process = new Process(isHarsh && this.#random.chance(0.6) ? this.#death() : undefined);
    const client = createClient({
      ...this.#sandbox.clientOptions,
      fetch: (...args) => process.call('a request', () => this.#sandbox.fetch(...args)),
      retry: { maxAttempts: this.#random.int(1, 3), creates: hasIdempotency },
      // What a service still carries out, or does not show yet, is visible after a timeout.
      timeoutMs: 30_000 + commitDelayMs,
    });
    const rows = [...this.#rows];
    const results: PushResult[] = [];
    this.#sandbox.clearLogs();
    let report: PushReport | undefined;
    let error: unknown;
    const work = push(mutation(client.products) as Client['products'], {
      tenant: 'shop',
      rows,
      key: ({ productNumber }) => productNumber,
      lookbackMs,
      concurrency: this.#random.int(1, 4),
      maxOutageMs: this.#random.pick([0, 10_000]),
      signal: process.signal,
      store: process.store(this.#store),
      ...(existing === undefined ? {} : { existing }),
      onResult: (result) => {
        if (process.signal.aborted) return;
        results.push(result);
        process.pass('onResult');
      },
    }).then(
      (value) => {
        // A process that dies in its last `onResult` sees no report.
        if (process.signal.aborted) error = process.signal.reason;
        else report = value;
      },
      (thrown: unknown) => {
        error = thrown;
      },
    );
    await runToEnd(work);
    this.#sandbox.faults.clear();
    const commits = this.#sandbox.journal;
    return { rows, results, report, error, commits };
  }

  #death(): Death {
    const random = this.#random;
    const where = random.pick<Place>(['a request', 'a request', 'store.get', 'store.set', 'onResult']);
    const atCall = random.int(1, where === 'a request' ? 25 : 6);
    return { where, atCall, isCarriedOut: random.chance(0.5) };
  }

  #addFaults(): void {
    const { faults } = this.#sandbox;
    const probability = this.#random.pick([0, 0.05, 0.2]);
    if (probability === 0) return;
    faults.add({ kind: 'lost-response', committed: true }, { probability });
    faults.add({ kind: 'lost-response', committed: false }, { probability });
    const marker = { kind: 'lost-response', committed: this.#random.chance(0.5), marker: true } as const;
    faults.add(marker, { method: 'POST', probability: probability / 2 });
    faults.add({ kind: 'status', status: 503 }, { probability });
    faults.add({ kind: 'rate-limited', retryAfter: 1 }, { probability });
  }

  #draft(key: string): ProductDraft {
    const random = this.#random;
    return {
      productNumber: key,
      name: `Name ${random.int(1, 3)}`,
      salePrice: random.pick(MONEY),
      brand: random.pick([null, 'Oak', undefined]),
      tags: random.pick([['a'], ['a', 'b']]),
      status: random.chance(0.08) ? 'invalid' : 'active',
    };
  }

  #changeRows(): void {
    this.#rows = this.#rows
      .filter(() => this.#random.chance(0.95))
      .map((row) => (this.#random.chance(0.2) ? this.#draft(row.productNumber ?? '') : row));
  }

  /** Another writer, of products that no row has. */
  #write(): void {
    const { products } = this.#sandbox.store;
    const others = products.all().filter(isOfOthers);
    if (others.length === 0 || this.#random.chance(0.5)) {
      products.insert({ productNumber: `X${this.#random.int(1, 1000)}`, name: 'other' });
    } else products.delete(this.#random.pick(others).id);
  }

  /** Other writers, of products that rows have, while no push runs. Their writes are visible when the next one begins. */
  #writeToRows(changes: number): void {
    if (changes === 0) return;
    this.#showAll();
    for (let left = changes; left > 0; left--) {
      this.#writeToRow();
      this.#showAll();
    }
  }

  #writeToRow(): void {
    const { products } = this.#sandbox.store;
    const key = this.#random.pick(KEYS);
    const form = (text: unknown) => String(text).trim().toLowerCase();
    const product = products.all().find(({ productNumber }) => form(productNumber) === form(key));
    if (product === undefined) products.insert({ ...this.#draft(key), status: 'active' });
    else if (this.#random.chance(0.5)) products.delete(product.id);
    else products.update(product.id, { name: 'changed', salePrice: '7.0000' });
  }

  #showAll(): void {
    this.#sandbox.clock.advance(this.#options.commitDelayMs);
  }

  #now(): Date {
    return new Date(this.#sandbox.clock.now());
  }
}

/** Whether a run was killed. */
export function wasKilled({ error }: Run): boolean {
  return error instanceof Error && error.message.startsWith('killed');
}

/** Whether a run stopped by itself. */
export function wasStopped({ error }: Run): boolean {
  return isAccountingError(error, 'push_failed');
}
