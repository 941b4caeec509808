// What a push remembers in its store: the id of each key, and the creates whose outcome is unknown.
//
// One entry for the creates in flight of a tenant, written before they are sent, and for each key name sixteen for the
// ids, each for a part of the keys: one for all would be too large to write often, one for each key too many to read.

import { CheckpointError } from '../errors/checkpoint-error.ts';
import { ConcurrentRunError } from '../errors/concurrent-run-error.ts';
import { scopeFingerprint } from '../pagination/resume-token.ts';
import { damagedValue, parseStored } from '../reading/state.ts';
import { readStore, type Store, writeStore } from '../reading/store.ts';
import { isObject } from '../schemas/validate.ts';
import { newIdempotencyKey } from '../transport/idempotency-key.ts';
import type { Attempt } from './attempt.ts';
import type { Rows } from './rows.ts';

interface MemoryOptions {
  readonly store: Store;
  readonly storeKey: string;
  readonly keyName: string;
  readonly tenant: string;
  readonly baseUrl: string;
  readonly signal: AbortSignal | undefined;
}

/** An attempt in the store. */
interface StoredAttempt extends Attempt {
  /** The key name of the push that sent it. */
  readonly name: string;
  readonly key: string;
}

const STATE_VERSION = 1;
const PARTS = '0123456789abcdef';

export class PushMemory {
  readonly #options: MemoryOptions;
  /** Names the service and the tenant: the entries mean nothing elsewhere. */
  readonly #scope: string;
  /** Marks what this run wrote. */
  readonly #by = newIdempotencyKey();
  /** The run that wrote the entry which this one found. */
  #foundBy: unknown;
  /** The creates that may be in flight, by natural key. */
  readonly #pending = new Map<string, Attempt>();
  /** Those of pushes by another key. */
  #others: readonly StoredAttempt[] = [];
  /** The content of the entry that the store has: what this run read, then what it wrote. */
  #stored = '';
  #hasWritten = false;
  /** Ids that the store does not have yet, by natural key. */
  readonly #ids = new Map<string, string>();
  #writing: Promise<void> = Promise.resolve();

  constructor(options: MemoryOptions) {
    this.#options = options;
    const { baseUrl, tenant } = options;
    this.#scope = scopeFingerprint({ baseUrl, collection: 'products', filters: { tenant, push: '' } });
  }

  /** Reads what earlier runs left, and gives each row the id that is known for its key. */
  async load(rows: Rows): Promise<void> {
    const { keyName, storeKey } = this.#options;
    const head = await this.#read(storeKey);
    this.#foundBy = head?.by;
    const pending = head?.pending ?? [];
    if (!Array.isArray(pending) || !pending.every(isStoredAttempt)) throw damagedValue(storeKey);
    this.#others = pending.filter(({ name }) => name !== keyName);
    for (const { name, key, ...attempt } of pending) {
      if (name === keyName) this.#pending.set(key, attempt);
    }
    this.#stored = this.#content();
    const parts = new Set([...rows.byKey.keys()].map(partOf));
    for (const part of parts) {
      const ids = await this.#readIds(part);
      for (const [key, id] of Object.entries(ids)) {
        const row = rows.byKey.get(key);
        if (row !== undefined) row.storedId = id;
      }
    }
  }

  /** Writes down that this run writes from now on. */
  begin(): Promise<void> {
    return this.#save(true);
  }

  /** The create of a key whose outcome is unknown. */
  pending(key: string): Attempt | undefined {
    return this.#pending.get(key);
  }

  /** Takes creates that are about to be sent, and writes them down. */
  async willCreate(attempts: Iterable<readonly [key: string, attempt: Attempt]>): Promise<void> {
    for (const [key, attempt] of attempts) this.#pending.set(key, attempt);
    await this.#save();
  }

  /** The outcome of a create is known. */
  settled(key: string): void {
    this.#pending.delete(key);
  }

  /** The product of a key is known. */
  found(key: string, id: string, storedId: string | undefined): void {
    if (id !== storedId) this.#ids.set(key, id);
  }

  /** Writes down everything that is known at the end of a run. */
  async finish(): Promise<void> {
    if (this.#ids.size > 0) await this.#saveIds();
    await this.#save();
  }

  /** The creates that may be in flight, as the store has them. */
  #content(): string {
    const { keyName: name } = this.#options;
    const own = [...this.#pending].map(([key, attempt]) => ({ name, key, ...attempt }));
    return JSON.stringify([...this.#others, ...own]);
  }

  /** One write after the other. */
  #save(isForced = false): Promise<void> {
    const work = this.#writing.then(() => this.#saveNow(isForced));
    this.#writing = work.catch(() => undefined);
    return work;
  }

  async #saveNow(isForced: boolean): Promise<void> {
    const pending = this.#content();
    if (pending === this.#stored && !isForced) return;

    const { storeKey } = this.#options;
    const by = (await this.#read(storeKey))?.by;
    if (by !== (this.#hasWritten ? this.#by : this.#foundBy)) {
      throw new ConcurrentRunError(
        `Another push wrote the state under ${storeKey} at the same time; what was written stays written.`,
        { retryable: true, hint: 'Run one push of a tenant at a time.' },
      );
    }
    const head = JSON.stringify({ v: STATE_VERSION, scope: this.#scope, by: this.#by });
    await this.#write(storeKey, `${head.slice(0, -1)},"pending":${pending}}`);
    this.#hasWritten = true;
    this.#stored = pending;
  }

  async #saveIds(): Promise<void> {
    // A product has one key: what another key remembers of it is out of date.
    const keys = new Map([...this.#ids].map(([key, id]) => [id, key]));
    for (const part of PARTS) {
      const before = await this.#readIds(part);
      const kept = Object.entries(before).filter(([key, id]) => (keys.get(id) ?? key) === key);
      const added = [...this.#ids].filter(([key]) => partOf(key) === part);
      const ids = Object.fromEntries([...kept, ...added]);
      if (added.length === 0 && kept.length === Object.keys(before).length) continue;
      await this.#write(this.#partKey(part), JSON.stringify({ v: STATE_VERSION, scope: this.#scope, ids }));
    }
    this.#ids.clear();
  }

  async #readIds(part: string): Promise<Readonly<Record<string, string>>> {
    const key = this.#partKey(part);
    const ids = (await this.#read(key))?.ids ?? {};
    if (!isObject(ids) || !Object.values(ids).every((id) => typeof id === 'string')) throw damagedValue(key);
    return ids as Readonly<Record<string, string>>;
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
        ? ['belongs to another base URL or tenant', 'Give this one a prefix of its own.']
        : [
            'was not written by a push of this version',
            'Give this one a prefix of its own, or delete the state.',
          ];
    throw new CheckpointError(`The state under ${key} ${what}.`, { hint });
  }

  async #write(key: string, text: string): Promise<void> {
    const { store, signal } = this.#options;
    await writeStore(store, { key, text }, signal);
  }
}

function isStoredAttempt(value: unknown): value is StoredAttempt {
  const names = ['name', 'key', 'idempotencyKey', 'draft'];
  return isObject(value) && names.every((name) => typeof value[name] === 'string');
}

/** The part of the ids that a key belongs to. */
function partOf(key: string): string {
  let hash = 0;
  for (let index = 0; index < key.length; index++) hash = (hash * 31 + key.charCodeAt(index)) | 0;
  return PARTS.charAt((hash ^ (hash >>> 8)) & 15);
}
