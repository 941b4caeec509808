import { isAccountingError } from '../errors/guards.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { randomUuid } from '../internal/random-uuid.ts';
import { isObject } from '../schemas/validate.ts';
import { CallStopped, type KeyAdmission, type RunCallOptions } from '../transport/call-options.ts';
import { isOutageError } from '../transport/outage.ts';
import type { LookUp } from './source.ts';
import { collectionName, type StoredCompany } from './state.ts';

/** Keys that are remembered: an older one has to be proven again. */
const MOST_KEYS = 10;
/** Known records that are requested, and kept. */
const MOST_COMPARED = 5;

/** A record that was read with an admitted key. */
export interface KnownRecord {
  /** The path segment of its collection. */
  readonly segment: string;
  readonly id: string;
  /** As it was sent then. */
  readonly createdAt: unknown;
}

/** What earlier runs have left of the company. */
export interface CompanyMemory {
  /** Salted digests of the keys that were used. */
  readonly salt: string;
  readonly keys: readonly string[];
  readonly known: () => AsyncIterable<KnownRecord> | Iterable<KnownRecord>;
}

/** Requests records that may be known. */
interface KnownReader {
  /** An error that is not about the key is returned. `isQuick`: with one attempt. */
  lookUp(id: string, isQuick: boolean): Promise<LookUp<{ id: string }> | Error>;
  /** Waits until the list of their collection responds, or the signal fires. Rejects if it is down for too long. */
  wait(over: AbortSignal): Promise<void>;
}

interface AdmissionOptions {
  readonly tenant: string;
  /** Accepts keys whose company cannot be proven. */
  readonly sameCompany: boolean;
  /** What earlier runs have left; nothing if there were none. */
  readonly memories: () => AsyncIterable<CompanyMemory> | Iterable<CompanyMemory>;
  /** Identifies the service and the key; undefined if the runtime has no digests. */
  readonly digestOf: (key: string, salt: string) => Promise<string | undefined>;
  /** How the records of a collection are requested with this key, as a part of the call; undefined if it cannot be read. */
  readonly reader: (segment: string, key: string, call: RunCallOptions) => KnownReader | undefined;
  /** Called instead of a rejection if no known record has `createdAt`: nothing can show the company then. */
  readonly onUnprovable?: (() => void) | undefined;
}

/**
 * One company for a whole run. Companies have the same ids, so a run that sent some calls with the key of another one
 * would mix both. A key that is new is no error, because keys are rotated: records that are known from earlier runs, or
 * that this run has read, prove that its company is the same.
 */
export class Admission implements KeyAdmission {
  readonly #options: AdmissionOptions;
  readonly #keys = new Map<string, { readonly proof: Promise<void>; readonly call: RunCallOptions }>();
  /** One proof at a time: the next key may be the one that the last was compared with. */
  #proof: Promise<unknown> = Promise.resolve();
  #hasAdmitted = false;
  /** The last records with `createdAt` that this run has read, by segment, and how many it has read in all. */
  readonly #seen = new Map<string, readonly KnownRecord[]>();
  #read = 0;
  #memory: Pick<CompanyMemory, 'salt' | 'keys'> = { salt: newSalt(), keys: [] };
  /** The error of a key that was not admitted. */
  rejection: InvalidInputError | undefined;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  async admit(key: string, call: RunCallOptions = {}): Promise<void> {
    for (;;) {
      const begun = this.#keys.get(key);
      if (begun === undefined) return await this.#begin(key, call);
      try {
        return await begun.proof;
      } catch (error) {
        // The proof belonged to another call, which was stopped. This one was not.
        const isOfOther = error instanceof CallStopped || begun.call.signal?.aborted === true;
        if (error === this.rejection || !isOfOther || call.signal?.aborted) throw error;
      }
    }
  }

  #begin(key: string, call: RunCallOptions): Promise<void> {
    const proof = this.#proof.catch(() => undefined).then(() => this.#prove(key, call));
    this.#proof = proof;
    this.#keys.set(key, { proof, call });
    proof.catch((error: unknown) => {
      // It could not be tried.
      if (error !== this.rejection) this.#keys.delete(key);
    });
    return proof;
  }

  saw(segment: string, rows: readonly unknown[]): void {
    this.#read += rows.length;
    const found: KnownRecord[] = [];
    for (const row of rows) {
      if (found.length === MOST_COMPARED) break;
      const { id, createdAt } = (isObject(row) ? row : {}) as { id?: unknown; createdAt?: unknown };
      if (momentOf(createdAt) !== undefined && (typeof id === 'string' || typeof id === 'number'))
        found.push({ segment, id: `${id}`, createdAt });
    }
    const others = this.seen(segment).filter(({ id }) => !found.some((one) => one.id === id));
    this.#seen.set(segment, [...found, ...others].slice(0, MOST_COMPARED));
  }

  /** The last records of a collection that this run has read, and that have `createdAt`. */
  seen(segment: string): readonly KnownRecord[] {
    return this.#seen.get(segment) ?? [];
  }

  /** What the next run has to know of the keys; undefined while nothing is known. */
  get memory(): Pick<CompanyMemory, 'salt' | 'keys'> | undefined {
    return this.#memory.keys.length === 0 ? undefined : this.#memory;
  }

  async #prove(key: string, call: RunCallOptions): Promise<void> {
    const { tenant, sameCompany, onUnprovable } = this.#options;
    const isFirst = !this.#hasAdmitted;
    const memories: CompanyMemory[] = [];
    for await (const memory of this.#options.memories()) {
      const { salt, keys } = memory;
      const digest = await this.#options.digestOf(key, salt);
      const isKnown = digest === undefined ? isFirst : keys.includes(digest);
      if (isFirst && (isKnown || memories.length === 0)) this.#memory = { salt, keys };
      memories.push(memory);
      if (!isKnown) continue;
      this.#hasAdmitted = true;
      return;
    }
    const needsProof = !sameCompany && (!isFirst || memories.length > 0);
    const doubt = needsProof ? await this.#doubtOf(key, memories, call) : undefined;
    if (doubt === 'nothing_known' && isFirst) {
      // The company of the keys that were used before is unknown. A state keeps only records with `createdAt`.
      this.#memory = { ...this.#memory, keys: [] };
      onUnprovable?.();
    } else if (doubt === 'no_created_at' && onUnprovable !== undefined) onUnprovable();
    else if (doubt !== undefined) {
      this.rejection ??= otherCompany(tenant, DOUBTS[doubt as keyof typeof DOUBTS] ?? doubt, isFirst);
      throw this.rejection;
    }
    await this.#remember(key);
  }

  async #remember(key: string): Promise<void> {
    this.#hasAdmitted = true;
    const { salt, keys } = this.#memory;
    const digest = await this.#options.digestOf(key, salt);
    if (digest === undefined || keys.includes(digest)) return;
    this.#memory = { salt, keys: [...keys, digest].slice(-MOST_KEYS) };
  }

  async *#known(memories: readonly CompanyMemory[]): AsyncGenerator<KnownRecord> {
    for (const { known } of memories) yield* known();
    for (const seen of this.#seen.values()) yield* seen;
  }

  /**
   * Why known records do not prove that the company is the same; undefined if they do. Up to five known records are
   * requested: at least one must exist, and all that exist must have the same `createdAt`, which nothing changes. Ids, names
   * and numbers prove nothing, because companies that were made from one template share them.
   */
  async #doubtOf(
    key: string,
    memories: readonly CompanyMemory[],
    call: RunCallOptions,
    hasWaited = false,
  ): Promise<string | undefined> {
    let isAnyKnown = this.#read > 0;
    let isProven = false;
    let compared = 0;
    let failure: Error | undefined;
    const down: KnownReader[] = [];
    const failures = new Map<string, number>();
    for await (const record of this.#known(memories)) {
      const { segment, id, createdAt } = record;
      isAnyKnown = true;
      const before = momentOf(createdAt);
      const failed = failures.get(segment) ?? 0;
      const reader = this.#options.reader(segment, key, call);
      if (before === undefined || reader === undefined || failed === MOST_COMPARED) continue;
      if (compared === MOST_COMPARED) break;
      const found = await reader.lookUp(id, down.length > 0 || hasWaited);
      if (found instanceof Error) {
        const isDown = isOutageError(found);
        if (isDown) down.push(reader);
        if (isDown || isAccountingError(found, 'unauthenticated')) failure = found;
        // Other collections may work.
        failures.set(segment, isDown ? MOST_COMPARED : failed + 1);
        continue;
      }
      compared += 1;
      const row = found.row ?? found.invalid?.record;
      if (row === undefined) continue;
      if (momentOf(isObject(row) ? row.createdAt : undefined) !== before)
        return `${collectionName(segment)} ${id} was created at another time`;
      isProven = true;
    }
    if (isProven) return undefined;
    if (down.length > 0 && !hasWaited) {
      await anyWorks(down);
      return await this.#doubtOf(key, memories, call, true);
    }
    if (!isAnyKnown) return 'nothing_known';
    // A 401 with a page may be about one request. If there was nothing else, it is about the key. A 500 says nothing of it.
    if (failure !== undefined && (compared === 0 || down.length > 0)) throw failure;
    return compared === 0 ? 'no_created_at' : 'not_found';
  }
}

/** Waits until one of them responds: another may never. Rejects with the error of the first if none does. */
async function anyWorks(readers: readonly KnownReader[]): Promise<void> {
  const over = new AbortController();
  const waits = readers.map((reader) => reader.wait(over.signal));
  try {
    await Promise.any(waits);
  } catch {
    await waits[0];
  } finally {
    over.abort();
  }
}

const DOUBTS = {
  nothing_known: 'no record has been read yet that could show it',
  no_created_at: 'it knows no record with createdAt that this key may read',
  not_found: 'the records that it knows were not found',
};

/** Whether an error says that a key was not admitted, so that no other call of the run may be sent. */
export function isOtherCompany(error: unknown): boolean {
  return isAccountingError(error, 'invalid_input') && error.argument === 'tenant';
}

/** The moment that a timestamp with an offset names, in ms; another value itself, and undefined for none. */
export function momentOf(value: unknown): number | string | undefined {
  if (typeof value === 'number') return `${value}`;
  if (typeof value !== 'string' || value === '') return undefined;
  const moment = /(?:z|[+-]\d\d:?\d\d)$/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(moment) ? value : moment;
}

function otherCompany(tenant: string, doubt: string, isFirst: boolean): InvalidInputError {
  const written = isFirst ? 'Nothing was written.' : 'What was written before it came is kept.';
  return new InvalidInputError(
    'tenant',
    `${tenant} was written with another API key, and nothing shows that this one is of the same company: ${doubt}. ${written} For another company, use another tenant. For a new key of the same company, pass sameCompany: true once`,
  );
}

/** The keys that a state keeps, which is small, and how many characters the records may take. */
const MOST_STORED_KEYS = 2;
const MOST_STORED_TEXT = 110;

/** What a state keeps of the company: the records that were read last, or those of `before`. */
export function companyToStore(
  { salt, keys }: Pick<CompanyMemory, 'salt' | 'keys'>,
  seen: readonly KnownRecord[],
  before: StoredCompany | undefined,
): StoredCompany {
  let known: NonNullable<StoredCompany['known']> = [];
  for (const { id, createdAt } of seen) {
    const moment = momentOf(createdAt);
    const stored = typeof moment === 'number' ? moment / 1000 : (moment ?? '');
    const more: typeof known = [...known, [id, stored]];
    if (JSON.stringify(more).length <= MOST_STORED_TEXT) known = more;
  }
  return { salt, keys: keys.slice(-MOST_STORED_KEYS), known: known.length > 0 ? known : before?.known };
}

/** What a state has kept. */
export function storedMemory({ salt, keys, known = [] }: StoredCompany, segment: string): CompanyMemory {
  const records = known.map(([id, stored]): KnownRecord => {
    const createdAt = typeof stored === 'number' ? new Date(stored * 1000).toISOString() : stored;
    return { segment, id, createdAt };
  });
  return { salt, keys, known: () => records };
}

/** The digests that a target or a store keeps; undefined if it has none. */
export function decodeMemory(stored: string | undefined): Pick<CompanyMemory, 'salt' | 'keys'> | undefined {
  if (stored === undefined) return undefined;
  try {
    const { salt, keys } = JSON.parse(stored) as { salt?: unknown; keys?: unknown };
    if (typeof salt === 'string' && Array.isArray(keys)) return { salt, keys };
  } catch {}
  // A damaged value knows no key, so the company has to be proven.
  return { salt: newSalt(), keys: [] };
}

function newSalt(): string {
  return randomUuid().slice(0, 8);
}
