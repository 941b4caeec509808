import { type Batch, type Client, createClient } from 'accounting-data-sdk';
import { createSandbox, type Sandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { vi } from 'vitest';

/** The time of the sandbox clock in these tests. */
export const START = '2026-01-05T08:00:00Z';

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
  return {
    sandbox,
    client: createClient({ ...sandbox.clientOptions, retry: { baseDelayMs: 0, maxDelayMs: 0 } }),
    states,
    // By a clock that stands still no outage would ever have lasted long enough to end the run.
    run: { store: states, tenant: 'acme', maxOutageMs: 0 },
  };
}

/** Adds so many accounts, written an hour before START. */
export function addAccounts({ sandbox }: SyncSetUp, count: number): void {
  sandbox.clock.set('2026-01-05T07:00:00Z');
  for (let n = 0; n < count; n++) sandbox.store.accounts.insert({ name: `account ${n}` });
  sandbox.clock.set(START);
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
  take: (batch: Batch<T>) => unknown = () => undefined,
): Promise<R> {
  for (;;) {
    const { done, value } = await run.next();
    if (done === true) return value;
    await take(value);
  }
}

/** The state that a store has, parsed. */
export function stateIn(states: Map<string, string>, collection = 'accounts'): Record<string, unknown> {
  return JSON.parse(states.get(`accounting-data-sdk:acme:${collection}`) ?? 'null');
}
