// One seeded history of a shop that pushes its rows, one push at a time: kills, late commits, stored errors, ignored keys,
// corrected rows, other writers. Returns what was wrong.

import {
  createClient,
  isAccountingError,
  type ProductDraft,
  type PushResult,
  push,
} from 'accounting-data-sdk';
import { SeededRandom } from '../../../support/seeded-random.ts';
import { advance, runUntilSettled } from '../../../support/virtual-clock.ts';
import { forgetPushesOfProcess, later, Process, SharedEntries, useProcessTimers } from './process.ts';
import { FAULTS, type Fault, formOf, type Product, Service, type ServiceTraits } from './service.ts';

export interface AloneFigures {
  pushes: number;
  kills: number;
  creates: number;
}

/** What kinds of trouble a history may have: all, unless a test names some. */
export interface AloneOptions extends Partial<ServiceTraits> {
  readonly faults?: readonly Fault[];
  readonly creates?: boolean;
  readonly figures?: AloneFigures;
}

const VISIBLE_AFTER_MS = 30_000;

class Shop {
  readonly #random: SeededRandom;
  readonly #service: Service;
  readonly #traits: ServiceTraits;
  readonly #entries: SharedEntries;
  readonly #options: AloneOptions;
  /** Whether a create may be sent again under its key. */
  readonly #creates: boolean;
  readonly #rows = new Map<string, { productNumber: string; name: string; isInvalid: boolean }>();
  /** When others touched a product, by its id, and the origins of products that they touched. */
  readonly #touchedAt = new Map<string, number>();
  readonly #touchedOrigins: { readonly origin: string; readonly at: number }[] = [];
  /** Products that others created between pushes, perhaps under ids that were used before: no push may change them. */
  readonly #foreign = new Set<Product>();
  readonly #findings: string[] = [];
  #isRunning = false;
  #faultRate = 0;
  #othersRate = 0;
  #runs = 0;

  constructor(seed: number, options: AloneOptions) {
    const random = new SeededRandom(seed);
    this.#random = random;
    this.#options = options;
    this.#traits = {
      visibleAfterMs: VISIBLE_AFTER_MS,
      honoursKeys: random.chance(0.67),
      stores5xx: random.chance(0.4),
      stores422: random.chance(0.5),
      keyForm: random.pick(['as_sent', 'as_sent', 'trimmed', 'upper'] as const),
      createdAt: random.pick(['sent', 'sent', 'missing', 'changes', 'forms'] as const),
      reusesIds: random.chance(0.33),
      lags: random.pick(['both', 'list', 'item'] as const),
      slowness: random.pick([0, 0.3, 1]),
      writeMs: 20,
      ...options,
    };
    this.#creates = options.creates ?? (this.#traits.honoursKeys && random.chance(0.8));
    this.#service = new Service(this.#traits, random);
    const calm = { latencyMs: 1, lock: 'none', lateWrites: 0, lateMs: 0, failures: 0 } as const;
    this.#entries = new SharedEntries(calm, random);
  }

  async play(): Promise<readonly string[]> {
    const random = this.#random;
    for (let n = random.int(1, 6); n > 0; n--) {
      this.#rows.set(`p-${n}`, { productNumber: this.#spelt(`p-${n}`), name: 'v1', isInvalid: false });
      if (random.chance(0.3)) this.#service.insert(`p-${n}`, random.pick(['v1', 'v0']));
    }
    this.#service.insert('other', 'v1');
    await advance(100_000);
    if (random.chance(0.2)) this.#service.brokenUntil = Date.now() + 120_000;
    for (let left = random.int(1, 4); left > 0; left--) {
      this.#othersRate = random.chance(0.3) ? 0.1 : 0;
      await this.#push(random.pick([0, 0.2, 0.5, 0.9]), this.#killTime());
      await advance(random.pick([1, 500, 5_000, 40_000]));
      if (random.chance(0.3)) this.#change();
      this.#correctRows();
      if (random.chance(0.2))
        this.#rows.set(`q-${left}`, { productNumber: `q-${left}`, name: 'v1', isInvalid: false });
    }
    for (const row of this.#rows.values()) row.isInvalid = false;
    this.#service.brokenUntil = 0;
    this.#othersRate = 0;
    for (let clean = 0; clean < 2; clean++) await this.#push(0, undefined);
    await advance(VISIBLE_AFTER_MS);
    for (const { key, action, error, reason } of await this.#push(0, undefined))
      if (action === 'failed') this.#find('stuck', `${key}: ${error?.message} ${reason}`);
    await advance(VISIBLE_AFTER_MS);
    this.#judge(await this.#push(0, undefined));
    return this.#findings;
  }

  /** When a process is killed: while it starts, while it writes, or while it waits. */
  #killTime(): number | undefined {
    const random = this.#random;
    return random.chance(0.5) ? random.next() * random.pick([500, 5_000, 150_000]) : undefined;
  }

  #spelt(key: string): string {
    if (this.#random.chance(0.15)) return key.toUpperCase();
    return this.#random.chance(0.15) ? ` ${key}` : key;
  }

  #correctRows(): void {
    const random = this.#random;
    for (const [key, row] of this.#rows) {
      if (random.chance(0.25)) row.name = `v${random.int(2, 6)}`;
      else if (random.chance(0.13)) row.isInvalid = !row.isInvalid;
      if (random.chance(0.2)) row.productNumber = this.#spelt(key);
    }
  }

  /** Another writer deletes, renumbers, changes or creates a product. */
  #change(): void {
    const random = this.#random;
    const service = this.#service;
    const { existing } = service;
    if (existing.length === 0) return;
    const product = random.pick(existing);
    this.#touchedAt.set(product.id, Date.now());
    this.#touchedOrigins.push({ origin: product.origin, at: Date.now() });
    const insertForeign = () => {
      const foreign = service.insert(`n-${random.int(1, 1e9)}`, 'theirs');
      this.#touchedAt.set(foreign.id, Date.now());
      // The guide says what remains: an id that is used again within the second, or before a push that has looked writes.
      const seconds = ({ versions }: Product) =>
        versions.map(({ createdAt }) => Math.floor(createdAt / 1_000));
      const [created] = seconds(foreign);
      const isTwin = service.products.some(
        (each) => each !== foreign && each.id === foreign.id && seconds(each).includes(created ?? 0),
      );
      if (!this.#isRunning && !isTwin) this.#foreign.add(foreign);
    };
    const what = random.next();
    if (what < 0.35) {
      service.remove(product);
      if (random.chance(0.5)) insertForeign();
    } else if (what < 0.6) {
      const key = random.chance(0.2) ? null : `x-${random.int(1, 1e9)}`;
      service.change(product, { productNumber: key });
    } else if (what < 0.8) service.change(product, { name: 'changed' });
    else insertForeign();
  }

  /** One push. Returns its results; empty if it was killed or rejected. */
  async #push(faultRate: number, killAfterMs: number | undefined): Promise<readonly PushResult[]> {
    const random = this.#random;
    const { figures } = this.#options;
    const process = new Process(`run ${++this.#runs}`);
    if (figures !== undefined) figures.pushes += 1;
    const from = Date.now();
    this.#faultRate = faultRate;
    this.#isRunning = true;
    let hasEnded = false;
    if (killAfterMs !== undefined)
      later(() => {
        if (hasEnded) return;
        process.kill();
        if (figures !== undefined) figures.kills += 1;
      }, killAfterMs);
    const rows: ProductDraft[] = [...this.#rows.values()].map(({ productNumber, name, isInvalid }) => ({
      productNumber,
      name,
      ...(isInvalid && { status: 'invalid' }),
    }));
    const results: PushResult[] = [];
    forgetPushesOfProcess();
    const { products } = createClient({
      baseUrl: 'https://books.example',
      apiKey: 'key-of-the-shop',
      rateLimiter: false,
      retry: { creates: this.#creates },
      fetch: (url, init) => process.call(() => this.#respond(String(url), init ?? {}, process)),
    });
    const work = process.run(() =>
      push(products, {
        tenant: 'shop',
        rows,
        key: 'productNumber',
        store: this.#entries.storeFor(process),
        visibleAfterMs: VISIBLE_AFTER_MS,
        concurrency: random.int(1, 3),
        onResult: (result) => void results.push(result),
      }).catch((error: unknown) => error),
    );
    const end = await runUntilSettled(work);
    hasEnded = true;
    this.#isRunning = false;
    if (process.isKilled) return [];
    if (end instanceof Error) {
      const isStopped = isAccountingError(end, 'push_failed') && !isAccountingError(end.cause, 'checkpoint');
      if (!isStopped || faultRate === 0) this.#find('rejected', String(end));
      return [];
    }
    this.#judgeReported(results, rows, from);
    return results;
  }

  async #respond(url: string, init: RequestInit, process: Process): Promise<Response> {
    const random = this.#random;
    if (this.#othersRate > 0 && random.chance(this.#othersRate)) this.#change();
    const isWrite = init.method !== 'GET';
    const fault =
      isWrite && random.chance(this.#faultRate) ? random.pick(this.#options.faults ?? FAULTS) : undefined;
    return await this.#service.respond(url, init, process.name, fault);
  }

  /** A row that was reported as done is there with its values, unless others touched its product meanwhile. */
  #judgeReported(results: readonly PushResult[], rows: readonly ProductDraft[], from: number): void {
    const since = from - VISIBLE_AFTER_MS;
    for (const { key = '', action, id = '', index } of results) {
      if (!['created', 'updated', 'unchanged'].includes(action)) continue;
      const form = formOf(key);
      const isTouched = this.#touchedOrigins.some(({ origin, at }) => origin === form && at >= since);
      if (isTouched || (this.#touchedAt.get(id) ?? 0) >= since) continue;
      const product = this.#service.existing.find((each) => each.id === id);
      if (product === undefined) {
        this.#find('reported, but gone', `${key} ${action} ${id}`);
        continue;
      }
      const now = this.#service.nowOf(product);
      if (now.name !== rows[index ?? -1]?.name)
        this.#find('reported, but wrong', `${key} ${action} ${id}: ${now.name}`);
      if (formOf(now.key) !== form)
        this.#find('reported, but another key', `${key} ${action} ${id}: ${now.key}`);
    }
  }

  #judge(last: readonly PushResult[]): void {
    const service = this.#service;
    const { figures } = this.#options;
    if (figures !== undefined) figures.creates += service.products.filter(({ by }) => by !== 'other').length;
    // The guide says what remains: a product under an id that is used again can get the update of another row.
    const isOverwritten = (product: Product) =>
      formOf(service.nowOf(product).key) !== product.origin &&
      service.products.some((each) => each !== product && each.id === product.id);
    const own = service.existing.filter(
      (product) => product.by !== 'other' && !product.isRenumbered && !isOverwritten(product),
    );
    for (const origin of new Set(own.map((product) => product.origin))) {
      const ids = own.flatMap((product) => (product.origin === origin ? [product.id] : []));
      if (ids.length > 1) this.#find('twice', `${origin}: ${ids}`);
    }
    for (const key of this.#rows.keys()) {
      const products = service.existing.filter((product) => formOf(service.nowOf(product).key) === key);
      if (products.length > 1)
        this.#find('twice', `${key}: ${products.map(({ id, by }) => `${id} by ${by}`)}`);
    }
    for (const product of this.#foreign) {
      const isChanged = product.versions.some(({ name }) => name !== 'theirs' && name !== 'changed');
      if (isChanged && !product.isRenumbered) this.#find('a product of others was changed', product.id);
    }
    for (const { key, action, ids } of last) {
      const isTouched = (id: string) => this.#touchedAt.has(id);
      if (action === 'conflict' && !ids.some(isTouched)) this.#find('conflict', `${key}: ${ids}`);
    }
  }

  #find(kind: string, what: string): void {
    this.#findings.push(`${kind}: ${what}`);
  }
}

/** Plays one history on the virtual clock. */
export async function playAlone(seed: number, options: AloneOptions = {}): Promise<readonly string[]> {
  useProcessTimers();
  return await new Shop(seed, options).play();
}
