// What a push remembers in its store: the creates whose outcome is unknown, and the id of each key.
//
// The creates of a tenant are in one entry, written before they are sent. The write that drops a create contains the id
// of its product, or that was written before. At the end of a round, ids move to sixteen entries for each key name, each
// for a part of the keys: one for all would be too large to write often, one for each key too many to read.

import { CheckpointError } from '../errors/checkpoint-error.ts';
import { scopeFingerprint } from '../pagination/resume-token.ts';
import type { KnownRecord } from '../reading/company.ts';
import { damagedValue, parseStored } from '../reading/state.ts';
import { readStore, writeStore } from '../reading/store.ts';
import { isObject } from '../schemas/validate.ts';
import { type CreateState, known, NONE, type SentCreate } from './create.ts';
import type { ResolvedPushOptions } from './options.ts';
import type { PushRow, Rows } from './rows.ts';
import type { Hold } from './runs.ts';

type MemoryOptions = Pick<
  ResolvedPushOptions,
  'store' | 'storeKey' | 'keyName' | 'tenant' | 'signal' | 'source'
>;

/** The creates of one key name in the store: those whose outcome is unknown, and ids that are in no other entry yet. */
interface Open {
  readonly sent: Readonly<Record<string, Pick<SentCreate, 'idempotencyKey' | 'draft'>>>;
  readonly made: Readonly<Record<string, string>>;
}

const STATE_VERSION = 1;
const PARTS = '0123456789abcdef';
/** Products that show which company the state belongs to. */
const MOST_KNOWN = 5;
/** Ids in the entry of the creates: it is written once for every hundred creates, and a larger one takes too long. */
const MAX_MADE = 5_000;

export class PushMemory {
  readonly #options: MemoryOptions;
  /** Names the service and the tenant: the entries mean nothing elsewhere. */
  readonly #scope: string;
  /** What keeps other runs from writing. A dry run needs none. */
  #hold: Hold | undefined;
  /** The creates of pushes by another key. */
  #others: readonly (readonly [name: string, open: unknown])[] = [];
  /** What is known of the creates of the rows. */
  readonly #states = new Map<PushRow, CreateState>();
  /** The creates whose outcome is unknown, by natural key. */
  readonly #sent = new Map<string, SentCreate>();
  /** The ids of creates that are in no other entry yet. */
  readonly #made = new Map<string, string>();
  /** Digests of the API keys that wrote: see `reading/company.ts`. */
  company: string | undefined;
  /** When these products were created, by id: they show which company another key belongs to. */
  #known: ReadonlyMap<string, unknown> = new Map();
  readonly #seen = new Map<string, unknown>();
  /** The content of the entry that the store has. */
  #stored = '';
  /** The ids of each part that was read. */
  readonly #parts = new Map<string, Map<string, string>>();
  /** The parts that have changed since they were read or written. */
  readonly #changed = new Set<string>();

  constructor(options: MemoryOptions) {
    this.#options = options;
    const { tenant, source } = options;
    const { baseUrl } = source;
    this.#scope = scopeFingerprint({ baseUrl, collection: 'products', filters: { tenant, push: '' } });
  }

  /** Reads which company the state belongs to. */
  async loadCompany(): Promise<Record<string, unknown> | undefined> {
    const head = await this.#read(this.#options.storeKey);
    this.company = typeof head?.company === 'string' ? head.company : undefined;
    this.#known = new Map(isObject(head?.known) ? Object.entries(head.known) : []);
    return head;
  }

  /** Reads what earlier runs left, and gives each row its state. */
  async load(rows: Rows, hold: Hold | undefined): Promise<void> {
    const { keyName, storeKey } = this.#options;
    this.#hold = hold;
    const head = await this.loadCompany();
    const all = head?.open ?? {};
    if (!isObject(all) || !Object.values(all).every(isOpen)) throw damagedValue(storeKey);
    this.#others = Object.entries(all).filter(([name]) => name !== keyName);
    const own = (Object.hasOwn(all, keyName) ? all[keyName] : { sent: {}, made: {} }) as Open;
    for (const [key, { idempotencyKey, draft }] of Object.entries(own.sent))
      this.#sent.set(key, { is: 'sent', idempotencyKey, draft, isEarlier: true, sendings: 0 });
    for (const [key, id] of Object.entries(own.made)) {
      this.#made.set(key, id);
      (await this.#part(key)).set(key, id);
      this.#changed.add(partOf(key));
    }
    this.#stored = this.#content();
    for (const row of rows.byKey.values()) {
      const id = (await this.#part(row.key)).get(row.key);
      const state = this.#sent.get(row.key) ?? (id === undefined ? undefined : known(id));
      if (state !== undefined) this.#states.set(row, state);
    }
  }

  /** What is known of the create of a row. */
  stateOf(row: PushRow): CreateState {
    return this.#states.get(row) ?? NONE;
  }

  /** Changes what is known of the create of a row. The store has it after the next write. */
  set(row: PushRow, state: CreateState): void {
    const { key } = row;
    const before = this.stateOf(row);
    this.#states.set(row, state);
    if (state.is === 'sent') this.#sent.set(key, state);
    else this.#sent.delete(key);
    const part = partOf(key);
    const ids = this.#parts.get(part) as Map<string, string>;
    if (state.is === 'made' && ids.get(key) !== state.id) {
      ids.set(key, state.id);
      this.#changed.add(part);
      if (before.is === 'sent') this.#made.set(key, state.id);
    }
    if (state.is === 'none') {
      this.#made.delete(key);
      if (ids.delete(key)) this.#changed.add(part);
    }
  }

  /** The products that an earlier run has seen. */
  async *knownProducts(
    lookUp: (id: string) => ReturnType<KnownRecord['lookUp']>,
  ): AsyncGenerator<KnownRecord> {
    for (const [id, createdAt] of this.#known) {
      yield { collection: 'products', id, createdAt, lookUp: () => lookUp(id) };
    }
  }

  /** A product that exists, as it was sent. */
  see(id: string, row: unknown): void {
    const createdAt = (isObject(row) ? row.createdAt : undefined) ?? null;
    const isEnough = createdAt === null ? this.#seen.size > 0 : this.#seen.size >= MOST_KNOWN;
    if (!isEnough || this.#known.has(id)) this.#seen.set(id, createdAt);
  }

  /** The known products that still exist, and others in place of the rest. */
  #stillKnown(): Readonly<Record<string, unknown>> {
    if (this.#seen.size === 0) return Object.fromEntries(this.#known);
    const ids = new Set([...this.#known.keys(), ...this.#seen.keys()].filter((id) => this.#seen.has(id)));
    return Object.fromEntries([...ids].slice(0, MOST_KNOWN).map((id) => [id, this.#seen.get(id)]));
  }

  /** For each of these ids, the keys whose product had it when it was last pushed. */
  async keysOf(ids: Iterable<string>): Promise<ReadonlyMap<string, readonly string[]>> {
    const keys = new Map<string, string[]>();
    for (const id of ids) keys.set(id, []);
    if (keys.size === 0) return keys;
    for (const part of PARTS)
      for (const [key, id] of this.#parts.get(part) ?? (await this.#readPart(part))) keys.get(id)?.push(key);
    return keys;
  }

  /** Writes down the creates that are about to be sent, and that this run writes from now on. */
  async begin(): Promise<void> {
    if (this.#made.size > MAX_MADE) await this.#saveParts();
    await this.#saveHead();
  }

  /** Throws if another run has taken over since the last write. */
  throwIfLost(): void {
    this.#hold?.throwIfLost();
  }

  /** Writes down everything that is known. */
  async save(): Promise<void> {
    if (this.#changed.size > 0) await this.#saveParts();
    if (this.#content() !== this.#stored) await this.#saveHead();
  }

  /** The creates of all key names, as the store has them. */
  #content(): string {
    const sent = [...this.#sent].map(([key, { idempotencyKey, draft }]) => [key, { idempotencyKey, draft }]);
    const own: Open = { sent: Object.fromEntries(sent), made: Object.fromEntries(this.#made) };
    const isEmpty = this.#sent.size + this.#made.size === 0;
    const { keyName } = this.#options;
    const open = Object.fromEntries([...this.#others, ...(isEmpty ? [] : [[keyName, own]])]);
    return JSON.stringify({ company: this.company, known: this.#stillKnown(), open });
  }

  async #saveHead(): Promise<void> {
    await this.#hold?.check();
    const content = this.#content();
    const head = JSON.stringify({ v: STATE_VERSION, scope: this.#scope });
    await this.#write(this.#options.storeKey, `${head.slice(0, -1)},${content.slice(1)}`);
    this.#stored = content;
  }

  async #saveParts(): Promise<void> {
    await this.#hold?.check();
    for (const part of this.#changed) {
      const ids = Object.fromEntries(this.#parts.get(part) ?? []);
      await this.#write(this.#partKey(part), JSON.stringify({ v: STATE_VERSION, scope: this.#scope, ids }));
      this.#changed.delete(part);
    }
    this.#made.clear();
  }

  /** The ids of the part that a key belongs to. */
  async #part(key: string): Promise<Map<string, string>> {
    const part = partOf(key);
    const ids = this.#parts.get(part) ?? (await this.#readPart(part));
    this.#parts.set(part, ids);
    return ids;
  }

  async #readPart(part: string): Promise<Map<string, string>> {
    const key = this.#partKey(part);
    const ids = (await this.#read(key))?.ids ?? {};
    if (!isTexts(ids)) throw damagedValue(key);
    return new Map(Object.entries(ids));
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
    await writeStore(store, { key, text }, signal);
  }
}

function isOpen(value: unknown): value is Open {
  if (!isObject(value) || !isObject(value.sent) || !isTexts(value.made)) return false;
  return Object.values(value.sent).every(
    (sent) => isObject(sent) && typeof sent.idempotencyKey === 'string' && typeof sent.draft === 'string',
  );
}

function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  return isObject(value) && Object.values(value).every((text) => typeof text === 'string');
}

/** The part of the ids that a key belongs to. */
function partOf(key: string): string {
  let hash = 0;
  for (let index = 0; index < key.length; index++) hash = (hash * 31 + key.charCodeAt(index)) | 0;
  return PARTS.charAt((hash ^ (hash >>> 8)) & 15);
}
