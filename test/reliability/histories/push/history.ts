// One seeded history of shops that push their rows: lost responses, products that appear late, errors, other writers,
// crashes, several runs of several files, a second company.

import {
  type AccountingRecord,
  createClient,
  isAccountingError,
  memoryStore,
  type ProductDraft,
  type PushReport,
  type PushResult,
  push,
  type Store,
} from 'accounting-data-sdk';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { quirky } from '../../../support/quirks.ts';
import { SeededRandom } from '../../../support/seeded-random.ts';
import { advance, runUntilSettled } from '../../../support/virtual-clock.ts';

type Place = 'a request' | 'store.get' | 'store.set' | 'onResult';

/** When a process is killed, and whether what it called then is processed. */
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

  /** Makes a call to the outside. The last one is processed or not, and the process does not see the result. */
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

/** One company, and what its pushes know. */
interface Company {
  readonly apiKey: string;
  readonly products: Sandbox['store']['products'];
  readonly tenant: string;
  readonly store: Store;
  /** Of every product that it ever had. */
  readonly ids: Set<string>;
}

/** The rows that are pushed by one key. Both companies push the same. */
interface File {
  readonly keyName: string;
  readonly keys: readonly string[];
  rows: ProductDraft[];
}

/** One run of a push, and what the service committed for it. */
export interface Run {
  readonly rows: readonly ProductDraft[];
  readonly results: readonly PushResult[];
  /** Undefined if the run was killed or rejected. */
  readonly report: PushReport | undefined;
  readonly error: unknown;
  /** Without creates that an earlier run began: they count as its own. */
  readonly commits: Sandbox['journal'];
  /** The ids of all products that were created meanwhile. */
  readonly created: ReadonlySet<string>;
  /** The ids of products that others deleted. */
  readonly deleted: ReadonlySet<string>;
}

/** The pushes of one file to one company. */
export interface Pushes {
  readonly products: readonly object[];
  readonly runs: readonly Run[];
  /** Three runs without faults and other writers, at the end. */
  readonly clean: readonly Run[];
}

export interface PushHistory {
  readonly pushes: readonly Pushes[];
  /** Creates of a product that already existed. */
  readonly duplicates: readonly string[];
}

/** Whether no row has the product. */
function isOfOthers(product: object): boolean {
  return String((product as ProductDraft).productNumber).startsWith('X');
}

/** Whether the service leaves a product out of lists, so that pages are short. A page that is hidden whole can end a list. */
function isHidden(product: AccountingRecord): boolean {
  return isOfOthers(product) && Number(product.id) % 4 === 0;
}

/** The key of a product or a row in the form in which some services store it. */
export function formOf(product: object): string {
  return String((product as ProductDraft).productNumber ?? '')
    .trim()
    .toLowerCase();
}

/** Some services store keys in another case, or without the white space around them. */
const KEYS = Array.from({ length: 12 }, (_, n) => (n % 4 === 0 ? `K${n} ` : `K${n}`));
/** The forms in which a service stores them. */
const KEY_FORMS = [
  (key: string) => key.trim(),
  (key: string) => key.trim().toLowerCase(),
  (key: string) => key.trim().toUpperCase(),
];
const MORE_KEYS = ['S1', 'S2', 'S3', 'S4', 'S5', 'S6'];
const MONEY = ['5', '5.0', '12.5000', '0', '129.99'];

/** When the service carries out a create whose connection was lost, and when it shows what was written. */
interface Delays {
  readonly carriedOutAfterMs: number;
  readonly commitDelayMs: number;
  readonly listedAfterMs: number;
  readonly foundAfterMs: number;
}

/** Together shorter than `visibleAfterMs`, as the guide demands. */
function delaysWithin(visibleAfterMs: number, restartsAtOnce: boolean, random: SeededRandom): Delays {
  let left = random.chance(0.8) ? visibleAfterMs - 1_000 : 0;
  const part = (probability: number) => (random.chance(probability) ? random.int(0, left) : 0);
  const carriedOutAfterMs = part(0.6);
  left -= carriedOutAfterMs;
  const commitDelayMs = part(0.3);
  left -= commitDelayMs;
  const listedAfterMs = restartsAtOnce ? left : part(0.7);
  return { carriedOutAfterMs, commitDelayMs, listedAfterMs, foundAfterMs: part(0.7) };
}

export async function playPush(seed: number): Promise<PushHistory> {
  const random = new SeededRandom(seed);
  const visibleAfterMs = random.pick([10_000, 30_000, 60_000]);
  const hasIdempotency = random.chance(0.7);
  const restartsAtOnce = random.chance(0.3);
  const delays = delaysWithin(visibleAfterMs, restartsAtOnce, random);
  const { commitDelayMs, listedAfterMs, foundAfterMs } = delays;
  const order = random.pick(['id-asc', 'id-asc', 'id-desc', 'created-asc', 'updated-desc', 'none'] as const);
  const hides = random.chance(0.3);
  const quirks = {
    castsIds: random.chance(0.3),
    ...(random.chance(0.3) && { storedKey: random.pick(KEY_FORMS) }),
    storesRejections: hasIdempotency && random.chance(0.5),
    sharesKeys: hasIdempotency && random.chance(0.5),
    conflictsWith409: random.chance(0.5),
  };
  const sandbox = createSandbox({
    seed,
    pageSize: random.int(hides ? 5 : 2, 10),
    order,
    ties: random.pick(['id-asc', 'id-asc', 'each-page', 'each-response']),
    hiddenRecords: hides ? isHidden : 0,
    timestamps: random.pick(['seconds', 'offset', 'milliseconds']),
    nullFields: random.pick(['sent', 'omitted']),
    moneyDigits: seed % 2 === 0 ? 4 : 6,
    idempotency: hasIdempotency ? {} : { replay: 'ignored' },
    allowedStatuses: ['active', 'archived'],
    commitDelayMs,
    newRecords: { listedAfterMs, foundAfterMs },
    // Booked products are the oldest ones.
    lockedRecords: random.pick([0, 0, 0, 0.1, ['1', '2', '3']]),
    uniqueFields: random.chance(0.3) ? ['productNumber'] : [],
  });
  return await new Shops(sandbox, random, {
    fetch: quirky(sandbox.fetch, quirks),
    hasIdempotency,
    restartsAtOnce,
    visibleAfterMs,
    delays,
  }).play();
}

interface ShopOptions {
  /** The service. */
  readonly fetch: Sandbox['fetch'];
  readonly hasIdempotency: boolean;
  /** Whether pushes are killed often, and nothing happens before the next one. */
  readonly restartsAtOnce: boolean;
  readonly visibleAfterMs: number;
  readonly delays: Delays;
}

class Shops {
  readonly #sandbox: Sandbox;
  readonly #random: SeededRandom;
  readonly #options: ShopOptions;
  readonly #companies: readonly Company[];
  readonly #files: readonly File[];
  /** Whether others delete products of rows while a push runs. */
  readonly #othersDeleteRows: boolean;
  #othersWrite = true;
  /** The idempotency keys that earlier runs stored, and those of this one. */
  readonly #earlierKeys = new Set<string>();
  readonly #keys = new Set<string>();
  /** The products that others deleted in this run. */
  #deleted = new Set<string>();
  readonly #duplicates = new Set<string>();

  constructor(sandbox: Sandbox, random: SeededRandom, options: ShopOptions) {
    this.#sandbox = sandbox;
    this.#random = random;
    this.#options = options;
    this.#othersDeleteRows = random.chance(0.4);
    const { keys, store, otherStore } = sandbox;
    const memory = memoryStore();
    const main = {
      apiKey: keys.full,
      products: store.products,
      tenant: 'shop',
      store: memory,
      ids: new Set<string>(),
    };
    const other = { apiKey: keys.otherCompany, products: otherStore.products, ids: new Set<string>() };
    // Two companies share neither a tenant of one store, nor the store of one tenant.
    const apart = random.chance(0.5)
      ? { tenant: 'shop', store: memoryStore() }
      : { tenant: 'other', store: memory };
    this.#companies = random.chance(0.25) ? [main, { ...other, ...apart }] : [main];
    const files = [{ keyName: 'number', keys: KEYS }];
    if (random.chance(options.restartsAtOnce ? 0.8 : 0.2)) files.push({ keyName: 'code', keys: MORE_KEYS });
    this.#files = files.map((file) => ({ ...file, rows: [] }));
  }

  async play(): Promise<PushHistory> {
    const random = this.#random;
    for (const { products } of this.#companies)
      for (const key of KEYS) if (random.chance(0.4)) products.insert(this.#existing(key));
    await this.#showAll();
    for (const file of this.#files)
      file.rows = file.keys.filter(() => random.chance(0.7)).map((key) => this.#draft(key));
    this.#sandbox.onRequest(({ method }) => {
      if (method === 'POST') this.#findDuplicates();
      if (this.#othersWrite && random.chance(0.2)) this.#write();
    });
    const pushes = this.#companies.flatMap((company) =>
      this.#files.map((file) => ({ company, file, runs: [] as Run[], clean: [] as Run[] })),
    );
    let next: typeof pushes = [];
    for (let left = random.int(1, 4) + 2 * (pushes.length - 1); left > 0; left--) {
      const chosen = next.shift() ?? random.pick(pushes);
      const { company, file, runs } = chosen;
      const run = await this.#run(company, file, true);
      runs.push(run);
      // Another file is pushed before the one whose push was killed.
      if (wasKilled(run) && next.length === 0 && random.chance(0.5)) next = [random.pick(pushes), chosen];
      if (this.#options.restartsAtOnce) continue;
      await advance(random.pick([0, 0, 500, 5_000, 600_000]));
      this.#changeRows();
      if (random.chance(0.5)) await this.#writeToRows(random.int(1, 2));
    }
    this.#othersWrite = false;
    await this.#showAll();
    // A product that a list shows before its route does fails a row, as one does whose id cannot be requested.
    await advance(this.#options.delays.foundAfterMs);
    for (let run = 0; run < 3; run++) {
      for (const { company, file, clean } of pushes) clean.push(await this.#run(company, file, false));
      await this.#showAll();
    }
    return {
      pushes: pushes.map(({ company, file, runs, clean }) => {
        const forms = new Set(file.keys.map((productNumber) => formOf({ productNumber })));
        const products = company.products.all().filter((product) => forms.has(formOf(product)));
        return { products, runs, clean };
      }),
      duplicates: [...this.#duplicates],
    };
  }

  async #run({ apiKey, tenant, store }: Company, file: File, isHarsh: boolean): Promise<Run> {
    const { hasIdempotency, restartsAtOnce, visibleAfterMs } = this.#options;
    const random = this.#random;
    const process = new Process(
      isHarsh && random.chance(restartsAtOnce ? 0.8 : 0.6) ? this.#death() : undefined,
    );
    const late = isHarsh ? random.pick([0, 0.1, 0.4]) : 0;
    const client = createClient({
      ...this.#sandbox.clientOptions,
      apiKey,
      fetch: (...args) => this.#send(process, new Request(...args), late),
      validation: random.pick(['throw', 'report', 'off']),
      retry: { maxAttempts: random.int(1, 3), creates: hasIdempotency },
    });
    const rows = [...file.rows];
    const results: PushResult[] = [];
    for (const key of this.#keys) this.#earlierKeys.add(key);
    this.#keys.clear();
    this.#deleted = new Set();
    this.#sandbox.clearLogs();
    if (isHarsh) this.#addFaults();
    let report: PushReport | undefined;
    let error: unknown;
    const work = push(client.products, {
      tenant,
      rows,
      key: ({ productNumber }) => productNumber,
      keyName: file.keyName,
      visibleAfterMs,
      concurrency: random.int(1, 4),
      maxOutageMs: random.pick([0, 10_000]),
      signal: process.signal,
      store: process.store(this.#watched(store)),
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
    await runUntilSettled(work);
    this.#sandbox.faults.clear();
    const commits = this.#sandbox.journal.filter(
      ({ action, idempotencyKey }) => action !== 'create' || !this.#earlierKeys.has(idempotencyKey ?? ''),
    );
    const creates = this.#sandbox.journal.filter(({ action }) => action === 'create');
    const created = new Set(creates.map(({ id }) => id));
    return { rows, results, report, error, commits, created, deleted: this.#deleted };
  }

  /** Sends a request. The connection of a create can be lost, and the create processed later. */
  async #send(process: Process, request: Request, lateProbability: number): Promise<Response> {
    if (request.method !== 'POST') return await process.call('a request', () => this.#options.fetch(request));
    const { url, method, headers } = request;
    const body = await request.clone().text();
    if (!this.#random.chance(lateProbability))
      return await process.call('a request', () => this.#options.fetch(request));
    return await process.call('a request', () => {
      const carryOut = () => void this.#options.fetch(url, { method, headers, body }).catch(() => undefined);
      setTimeout(carryOut, this.#random.int(0, this.#options.delays.carriedOutAfterMs));
      throw new TypeError('fetch failed');
    });
  }

  /** A store whose idempotency keys are noticed. */
  #watched(store: Store): Store {
    return {
      get: (key) => store.get(key),
      set: (key, value) => {
        for (const [, idempotencyKey = ''] of value.matchAll(/"idempotencyKey":"([^"]+)"/g))
          this.#keys.add(idempotencyKey);
        return store.set?.(key, value);
      },
    };
  }

  #death(): Death {
    const random = this.#random;
    const where = random.pick<Place>(['a request', 'a request', 'store.get', 'store.set', 'onResult']);
    const atCall = random.int(1, where === 'a request' ? 25 : 6);
    return { where, atCall, isCarriedOut: random.chance(0.5) };
  }

  #addFaults(): void {
    const { faults } = this.#sandbox;
    const probability = this.#random.pick(this.#options.restartsAtOnce ? [0, 0, 0.05] : [0, 0.05, 0.2]);
    if (probability === 0) return;
    faults.add({ kind: 'lost-response', committed: true }, { probability });
    faults.add({ kind: 'lost-response', committed: false }, { probability });
    const marker = { kind: 'lost-response', committed: this.#random.chance(0.5), marker: true } as const;
    faults.add(marker, { method: 'POST', probability: probability / 2 });
    faults.add({ kind: 'status', status: 503 }, { probability });
    faults.add({ kind: 'status', status: 429, retryAfter: 1 }, { probability });
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

  /** A product that others created. Some do not match the schema. */
  #existing(key: string) {
    const invalid = this.#random.chance(0.1) ? { description: 7 as never } : {};
    return { ...this.#draft(key), status: 'active', ...invalid };
  }

  #changeRows(): void {
    for (const file of this.#files)
      file.rows = file.rows
        .filter(() => this.#random.chance(0.95))
        .map((row) => (this.#random.chance(0.2) ? this.#draft(row.productNumber ?? '') : row));
  }

  /** Another writer, while a push may run. It creates nothing that a row has. */
  #write(): void {
    const { products } = this.#random.pick(this.#companies);
    const all = products.all();
    const mayGo = this.#othersDeleteRows ? all : all.filter(isOfOthers);
    if (mayGo.length === 0 || this.#random.chance(0.5))
      products.insert({ productNumber: `X${this.#random.int(1, 1000)}`, name: 'other' });
    else {
      const { id } = this.#random.pick(mayGo);
      products.delete(id);
      this.#deleted.add(id);
    }
  }

  /** Other writers, of products that rows have, while no push runs. Their writes are visible when the next one begins. */
  async #writeToRows(changes: number): Promise<void> {
    if (changes === 0) return;
    await this.#showAll();
    for (let left = changes; left > 0; left--) {
      this.#writeToRow();
      await this.#showAll();
    }
  }

  #writeToRow(): void {
    const { products } = this.#random.pick(this.#companies);
    const key = this.#random.pick(KEYS);
    const product = products.all().find((each) => formOf(each) === formOf({ productNumber: key }));
    if (product === undefined) products.insert(this.#existing(key));
    else if (this.#random.chance(0.5)) products.delete(product.id);
    else products.update(product.id, { name: 'changed', salePrice: '7.0000' });
  }

  /** Two products with the key of one row: nobody but a push creates a second one. */
  #findDuplicates(): void {
    for (const { products, ids } of this.#companies) {
      for (const id of [...products.ids(), ...this.#sandbox.journal.map((commit) => commit.id)]) ids.add(id);
      const first = new Map<string, string>();
      for (const id of ids) {
        // By its last write, whether or not requests see it.
        const product = products.get(id);
        if (product === undefined || isOfOthers(product)) continue;
        const form = formOf(product);
        if (first.has(form)) this.#duplicates.add(`${form}: products ${first.get(form)} and ${id}`);
        else first.set(form, id);
      }
    }
  }

  /** Until everything is processed and visible. */
  async #showAll(): Promise<void> {
    const { carriedOutAfterMs, commitDelayMs } = this.#options.delays;
    await advance(carriedOutAfterMs + commitDelayMs);
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
