import {
  type Batch,
  type ChangesOptions,
  type Client,
  type ClientDefaults,
  type ClientOptions,
  type CollectionReport,
  changes,
  createClient,
  isAccountingError,
  type SyncError,
  type SyncOptions,
  type SyncReport,
  sync,
} from 'accounting-data-sdk';
import { createSandbox, type Sandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { vi } from 'vitest';
import { caught } from '../../support/caught.ts';

/** The time of the sandbox clock in these tests. */
export const START = '2026-01-05T08:00:00Z';

/** The key of the state of accounts. */
export const KEY = 'accounting-data-sdk:acme:accounts';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

export const nothing = (): undefined => undefined;

export interface SyncSetUp {
  readonly sandbox: Sandbox;
  readonly client: Client;
  readonly states: Map<string, string>;
  /** What every run of these tests is given. */
  readonly run: {
    readonly store: Map<string, string>;
    readonly tenant: string;
    readonly maxOutageMs: number;
  };
}

/** A sandbox whose clock stands still, as does the monotonic one of this process, a client for it, and a store. */
export function setUpSync(options: SandboxOptions = {}): SyncSetUp {
  vi.spyOn(performance, 'now').mockReturnValue(0);
  const sandbox = createSandbox({ clock: START, pageSize: 10, ...options });
  const states = new Map<string, string>();
  // By a clock that stands still no outage would ever have lasted long enough to end the run.
  const run = { store: states, tenant: 'acme', maxOutageMs: 0 };
  return { sandbox, client: clientOf(sandbox), states, run };
}

/** A client of a sandbox that does not wait before a retry. */
export function clientOf(sandbox: Sandbox, options: ClientOptions = {}): Client {
  return createClient({ ...sandbox.clientOptions, retry: { baseDelayMs: 0, maxDelayMs: 0 }, ...options });
}

/** The same, with a client that lists in another way. */
export function listing(books: SyncSetUp, options: ClientDefaults): SyncSetUp {
  return { ...books, client: books.client.withOptions(options) };
}

/** A set-up with so many accounts, written an hour before START. */
export function withAccounts(count: number, options?: SandboxOptions): SyncSetUp {
  const books = setUpSync(options);
  const { clock, store } = books.sandbox;
  clock.set('2026-01-05T07:00:00Z');
  for (let n = 0; n < count; n++) store.accounts.insert({ name: `account ${n}` });
  clock.set(START);
  return books;
}

/** A copy of one collection, kept by upsert. */
export class Copy {
  readonly records = new Map<string, unknown>();
  readonly batches: Batch<{ id: string }>[] = [];

  take = (batch: Batch<{ id: string }>): void => {
    this.batches.push(batch);
    for (const record of batch.records) this.records.set(record.id, record);
  };

  get ids(): string[] {
    return [...this.records.keys()].sort((a, b) => Number(a) - Number(b));
  }
}

/** Iterates a run to its end. */
export async function collect<T extends { id: string }, R>(
  run: AsyncGenerator<Batch<T>, R, undefined>,
  take: (batch: Batch<T>) => unknown = nothing,
): Promise<R> {
  for (;;) {
    const { done, value } = await run.next();
    if (done === true) return value;
    await take(value);
  }
}

type Take = (batch: Batch<{ id: string }>) => unknown;

/** A run of `changes` over the accounts, to its end. */
export async function readAccounts(
  { client, run }: SyncSetUp,
  options: Partial<ChangesOptions> = {},
  take?: Take,
): Promise<CollectionReport> {
  return await collect(changes(client.accounts, { ...run, ...options }), take);
}

/** A run of `changes` over the accounts that is left at this batch, so that the batch is not committed. */
export async function leaveAtBatch(
  number: number,
  { client, run }: SyncSetUp,
  options: Partial<ChangesOptions> = {},
  take: Take = nothing,
): Promise<void> {
  let batches = 0;
  for await (const batch of changes(client.accounts, { ...run, ...options })) {
    if (++batches === number) return;
    await take(batch);
  }
}

type Options = Partial<SyncOptions<Client>>;

/** A sync of every collection, or of those of the options. */
export async function syncAll({ client, run }: SyncSetUp, options: Options = {}): Promise<SyncReport> {
  return await sync(client, { ...run, onBatch: nothing, ...options });
}

/** The error of a sync that fails. */
export async function failureOf(run: Promise<unknown>): Promise<SyncError> {
  const error = await caught(run);
  if (!isAccountingError(error, 'sync_failed')) throw new Error('expected a SyncError', { cause: error });
  return error;
}

/** The status of each collection. */
export const statuses = ({ collections }: SyncReport) => collections.map(({ status }) => status);

/** The state that a store has, parsed. */
export function stateIn(states: Map<string, string>, collection = 'accounts'): Record<string, unknown> {
  return JSON.parse(states.get(`accounting-data-sdk:acme:${collection}`) ?? 'null');
}
