// What a push remembers in its store: the creates whose outcome is unknown, and the id of each key.
//
// The creates of a tenant are in one entry, written before they are sent. The write that drops a create contains its
// product, or that was written before. At the end of a round, products move to sixteen entries for each key name, each for
// a part of the keys: one for all would be too large to write often, one for each key too many to read. Keys are folded:
// the next file may spell one in another way.

import { CheckpointError } from '../errors/checkpoint-error.ts';
import { scopeFingerprint } from '../pagination/resume-token.ts';
import { type Admission, type CompanyMemory, decodeMemory } from '../reading/company.ts';
import { damagedValue, parseStored } from '../reading/state.ts';
import { readStore, writeStore } from '../reading/store.ts';
import { isObject } from '../schemas/validate.ts';
import { type CreateState, earlier, known, NONE, type ProductFacts, type SentCreate } from './create.ts';
import type { ResolvedPushOptions } from './options.ts';
import type { PushRow, Rows } from './rows.ts';
import type { Hold } from './runs.ts';

type MemoryOptions = Pick<
  ResolvedPushOptions,
  'store' | 'storeKey' | 'keyName' | 'tenant' | 'signal' | 'source'
>;

/** A create whose outcome is unknown, in the store. */
type StoredCreate = Pick<SentCreate, 'idempotencyKey' | 'draft' | 'sendings'>;
/** A product in the store. Without `key`, it last showed the key that it is stored under. */
type StoredProduct = readonly [id: string, createdAt: number | string | null, key?: string];

/** The creates of one key name in the store: those whose outcome is unknown, and products that are in no other entry yet. */
interface Open {
  readonly sent: Readonly<Record<string, StoredCreate>>;
  readonly made: Readonly<Record<string, StoredProduct>>;
}

const STATE_VERSION = 2;
const PARTS = '0123456789abcdef';
/** Products that show which company the state belongs to. */
const MOST_KNOWN = 5;
/** Products in the entry of the creates: it is written once for every hundred creates, and a larger one takes too long. */
const MAX_MADE = 2_000;

export class PushMemory {
  readonly #options: MemoryOptions;
  /** Names the service and the tenant: the entries mean nothing elsewhere. */
  readonly #scope: string;
  /** What lets this run write; undefined in a dry run. */
  readonly #hold: Hold | undefined;
  /** The creates of pushes by another key. */
  #others: readonly (readonly [name: string, open: unknown])[] = [];
  /** What is known of the creates of the rows. */
  readonly #states = new Map<PushRow, CreateState>();
  /** Rows whose state is not stored, because other rows have the same folded key. */
  readonly #sharing = new Set<PushRow>();
  /** The creates whose outcome is unknown, by folded key. */
  readonly #sent = new Map<string, StoredCreate>();
  /** The products of creates that are in no other entry yet. */
  readonly #made = new Map<string, StoredProduct>();
  /** How many pages the list of products had when it was last read. */
  pages: number | undefined;
  /** The keys that this run may use. */
  admission: Admission | undefined;
  /** Digests of the API keys of earlier runs: see `reading/company.ts`. */
  #company: string | undefined;
  /** When these products were created, by id: they show which company another key belongs to. */
  #known: ReadonlyMap<string, unknown> = new Map();
  readonly #seen = new Map<string, unknown>();
  #isListed = false;
  /** The content of the entry that the store has. */
  #stored = '';
  /** The products of each part that was read, by folded key. */
  readonly #parts = new Map<string, Map<string, StoredProduct>>();
  /** The parts that have changed since they were read or written. */
  readonly #changed = new Set<string>();

  constructor(options: MemoryOptions, hold: Hold | undefined) {
    this.#options = options;
    this.#hold = hold;
    const { tenant, source } = options;
    const { baseUrl } = source;
    this.#scope = scopeFingerprint({ baseUrl, collection: 'products', filters: { tenant, push: '' } });
  }

  /** Reads what earlier runs left, and gives each row its state. */
  async load(rows: Rows): Promise<void> {
    const { keyName, storeKey } = this.#options;
    const head = await this.#read(storeKey);
    this.#company = typeof head?.company === 'string' ? head.company : undefined;
    this.#known = new Map(isObject(head?.known) ? Object.entries(head.known) : []);
    this.pages = typeof head?.pages === 'number' ? head.pages : undefined;
    const all = head?.open ?? {};
    if (!isObject(all) || !Object.values(all).every(isOpen)) throw damagedValue(storeKey);
    this.#others = Object.entries(all).filter(([name]) => name !== keyName);
    const own = (Object.hasOwn(all, keyName) ? all[keyName] : { sent: {}, made: {} }) as Open;
    for (const [key, sent] of Object.entries(own.sent)) this.#sent.set(key, sent);
    for (const [key, product] of Object.entries(own.made)) {
      this.#made.set(key, product);
      (await this.#part(key)).set(key, product);
      this.#changed.add(partOf(key));
    }
    this.#stored = this.#content();
    for (const [key, group] of rows) {
      const state = this.#storedState(key, (await this.#part(key)).get(key));
      if (state !== undefined) for (const row of group) this.#states.set(row, state);
    }
  }

  #storedState(key: string, product: StoredProduct | undefined): CreateState | undefined {
    const sent = this.#sent.get(key);
    if (sent !== undefined) return earlier(sent);
    if (product === undefined) return undefined;
    const [id, createdAt, lastKey = key] = product;
    return known({ id, createdAt: createdAt ?? undefined, key: lastKey });
  }

  /** What is known of the create of a row. */
  stateOf(row: PushRow): CreateState {
    return this.#states.get(row) ?? NONE;
  }

  /** Changes what is known of the create of a row. The store has it after the next write. */
  set(row: PushRow, state: CreateState): void {
    const before = this.stateOf(row);
    this.#states.set(row, state);
    if (this.#sharing.has(row)) return;
    const { folded: key } = row;
    if (state.is === 'sent') {
      const { idempotencyKey, draft, sendings } = state;
      this.#sent.set(key, { idempotencyKey, draft, sendings });
    } else this.#sent.delete(key);
    if (state.is === 'made') this.#setProduct(key, state, before.is === 'sent');
    if (state.is === 'none') this.#forget(key);
  }

  /** Rows with one folded key, each with a product of its own: the state of the key is that of none of them. */
  share(rows: readonly PushRow[]): void {
    for (const row of rows) {
      this.set(row, NONE);
      this.#sharing.add(row);
    }
  }

  #setProduct(key: string, { id, createdAt, key: shown }: ProductFacts, wasSent: boolean): void {
    const part = partOf(key);
    const products = this.#parts.get(part) as Map<string, StoredProduct>;
    const moment = createdAt ?? null;
    const product: StoredProduct = shown === key ? [id, moment] : [id, moment, shown];
    if (isSame(products.get(key), product)) return;
    products.set(key, product);
    this.#changed.add(part);
    if (wasSent || this.#made.has(key)) this.#made.set(key, product);
  }

  #forget(key: string): void {
    const part = partOf(key);
    this.#made.delete(key);
    if (this.#parts.get(part)?.delete(key)) this.#changed.add(part);
  }

  /** What earlier runs have left of the company. */
  *memories(): Generator<CompanyMemory> {
    const memory = decodeMemory(this.#company);
    const known = [...this.#known].map(([id, createdAt]) => ({ segment: 'products', id, createdAt }));
    if (memory !== undefined) yield { ...memory, known: () => known };
  }

  /** The list was read to its end, and had so many pages. */
  listed(pages: number): void {
    this.pages = pages;
    this.#isListed = true;
  }

  /** A product that exists, as it was sent. */
  see(id: string, row: unknown): void {
    const createdAt = (isObject(row) ? row.createdAt : undefined) ?? null;
    const isEnough = createdAt === null ? this.#seen.size > 0 : this.#seen.size >= MOST_KNOWN;
    if (!isEnough || this.#known.has(id)) this.#seen.set(id, createdAt);
  }

  /** The known products, without those that a list lacks, and others in place of these. */
  #stillKnown(): Readonly<Record<string, unknown>> {
    const kept = [...this.#known].filter(
      ([id]) => !this.#isListed || this.#seen.size === 0 || this.#seen.has(id),
    );
    return Object.fromEntries([...new Map([...kept, ...this.#seen])].slice(0, MOST_KNOWN));
  }

  /** For each of these ids, the folded keys whose product had it when it was last pushed. */
  async keysOf(ids: Iterable<string>): Promise<ReadonlyMap<string, readonly string[]>> {
    const keys = new Map<string, string[]>();
    for (const id of ids) keys.set(id, []);
    if (keys.size === 0) return keys;
    for (const part of PARTS)
      for (const [key, [id]] of this.#parts.get(part) ?? (await this.#readPart(part)))
        keys.get(id)?.push(key);
    return keys;
  }

  /** Writes down the creates that are about to be sent, and that this run writes from now on. */
  async begin(): Promise<void> {
    if (this.#made.size > MAX_MADE) await this.#saveParts();
    await this.#saveHead();
  }

  /** Writes down everything that is known. */
  async save(): Promise<void> {
    if (this.#changed.size > 0) await this.#saveParts();
    if (this.#content() !== this.#stored) await this.#saveHead();
  }

  /** The creates of all key names, as the store has them. */
  #content(): string {
    const own: Open = { sent: Object.fromEntries(this.#sent), made: Object.fromEntries(this.#made) };
    const isEmpty = this.#sent.size + this.#made.size === 0;
    const { keyName } = this.#options;
    const open = Object.fromEntries([...this.#others, ...(isEmpty ? [] : [[keyName, own]])]);
    const memory = this.admission?.memory;
    const company = memory === undefined ? this.#company : JSON.stringify(memory);
    return JSON.stringify({ company, known: this.#stillKnown(), pages: this.pages, open });
  }

  async #saveHead(): Promise<void> {
    const content = this.#content();
    const head = JSON.stringify({ v: STATE_VERSION, scope: this.#scope });
    // Not what was known of the run a moment ago: a chunk of creates follows.
    await this.#hold?.ask();
    await this.#write(this.#options.storeKey, `${head.slice(0, -1)},${content.slice(1)}`);
    this.#stored = content;
  }

  async #saveParts(): Promise<void> {
    for (const part of this.#changed) {
      const products = Object.fromEntries(this.#parts.get(part) ?? []);
      const text = JSON.stringify({ v: STATE_VERSION, scope: this.#scope, products });
      await this.#write(this.#partKey(part), text);
      this.#changed.delete(part);
    }
    this.#made.clear();
  }

  /** The products of the part that a key belongs to. */
  async #part(key: string): Promise<Map<string, StoredProduct>> {
    const part = partOf(key);
    const products = this.#parts.get(part) ?? (await this.#readPart(part));
    this.#parts.set(part, products);
    return products;
  }

  async #readPart(part: string): Promise<Map<string, StoredProduct>> {
    const key = this.#partKey(part);
    const products = (await this.#read(key))?.products ?? {};
    if (!isProducts(products)) throw damagedValue(key);
    return new Map(Object.entries(products));
  }

  #partKey(part: string): string {
    const { keyName, storeKey } = this.#options;
    return `${storeKey}:${keyName}:${part}`;
  }

  async #read(key: string) {
    const { store, signal } = this.#options;
    const content = parseStored(await readStore(store, key, signal), key);
    if (content === undefined || (content.v === STATE_VERSION && content.scope === this.#scope))
      return content;
    const [what, hint] =
      content.v === STATE_VERSION
        ? [
            'belongs to another base URL or tenant',
            'For another company, pass another tenant. If the service of this one has moved, delete the state: the next push finds the products by their keys.',
          ]
        : ['was not written by a push of this version', 'Delete the state, or pass another tenant.'];
    throw new CheckpointError(`The state under ${key} ${what}.`, { hint });
  }

  async #write(key: string, text: string): Promise<void> {
    const { store, signal } = this.#options;
    await this.#hold?.mayWrite();
    await writeStore(store, { key, text }, signal);
  }
}

function isOpen(value: unknown): value is Open {
  if (!isObject(value) || !isObject(value.sent) || !isProducts(value.made)) return false;
  return Object.values(value.sent).every(
    (sent) =>
      isObject(sent) &&
      typeof sent.idempotencyKey === 'string' &&
      typeof sent.draft === 'string' &&
      Number.isSafeInteger(sent.sendings),
  );
}

function isProducts(value: unknown): value is Readonly<Record<string, StoredProduct>> {
  return isObject(value) && Object.values(value).every(isProduct);
}

function isProduct(value: unknown): value is StoredProduct {
  if (!Array.isArray(value)) return false;
  const [id, createdAt, key = ''] = value;
  const isMoment = createdAt === null || typeof createdAt === 'string' || typeof createdAt === 'number';
  return typeof id === 'string' && isMoment && typeof key === 'string';
}

function isSame(before: StoredProduct | undefined, [id, createdAt, key]: StoredProduct): boolean {
  return before?.[0] === id && before[1] === createdAt && before[2] === key;
}

/** The part of the products that a key belongs to. */
function partOf(key: string): string {
  let hash = 0;
  for (let index = 0; index < key.length; index++) hash = (hash * 31 + key.charCodeAt(index)) | 0;
  return PARTS.charAt((hash ^ (hash >>> 8)) & 15);
}
