import {
  type Client,
  type ClientOptions,
  createClient,
  type Product,
  type ProductDraft,
  type PushOptions,
  type PushReport,
  type PushResult,
  push,
  type Store,
} from 'accounting-data-sdk';
import { createSandbox, type Sandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { vi } from 'vitest';
import { caught } from './caught.ts';
import { type Quirks, quirky } from './quirks.ts';
import { runUntilSettled } from './virtual-clock.ts';

type Options = PushOptions<ProductDraft>;

/** What a push did. */
export interface Pushed {
  readonly report: PushReport;
  readonly results: readonly PushResult[];
  /** `A created`, sorted. */
  readonly done: readonly string[];
  /** The actions of the service's journal. */
  readonly commits: readonly string[];
}

/** A service with some products, and a way to push rows to it: at once, if the clock is virtual. */
export interface PushSetUp {
  readonly sandbox: Sandbox;
  readonly client: Client;
  /** The ids of the products that existed at first. */
  readonly ids: readonly string[];
  /** What the pushes have stored. */
  readonly entries: Map<string, string>;
  run(rows: Options['rows'], options?: Partial<Options>): Promise<Pushed>;
}

/** Options of a push that sends each request once and waits for nothing. */
export const ONCE = { retry: { maxAttempts: 1 }, maxOutageMs: 0 };

/** The natural key of these tests. */
export const productNumber = (row: ProductDraft | Product) => row.productNumber;

/** Rows that differ in their numbers. */
export function numbered(count: number, fields: ProductDraft = {}): ProductDraft[] {
  return Array.from({ length: count }, (_, n) => ({ productNumber: `P-${n}`, ...fields }));
}

/** A store that calls a function after each write. */
export function storeOver(entries: Map<string, string>, onSet: (key: string, value: string) => void): Store {
  return {
    get: (key) => entries.get(key),
    set: (key, value) => {
      entries.set(key, value);
      onSet(key, value);
    },
  };
}

/** Pushes until so many creates are sent, and kills the process before it sees the response of the last. */
export async function pushAndDie(
  { sandbox, run }: PushSetUp,
  rows: ProductDraft[],
  {
    committed = true,
    creates = 1,
    ...options
  }: Partial<Options> & { committed?: boolean; creates?: number } = {},
): Promise<void> {
  const killed = new AbortController();
  sandbox.faults.add({ kind: 'lost-response', committed }, { method: 'POST', times: creates });
  let posts = 0;
  const stop = sandbox.onRequest(({ method }) => {
    if (method === 'POST' && ++posts === creates) setTimeout(() => killed.abort(new Error('killed')));
  });
  await caught(run(rows, { ...ONCE, signal: killed.signal, ...options }));
  stop();
  sandbox.faults.clear();
}

export function setUpPush(
  existing: readonly ProductDraft[] = [],
  {
    sandbox: sandboxOptions = {},
    client: clientOptions = {},
    quirks = {},
  }: { sandbox?: SandboxOptions; client?: ClientOptions; quirks?: Quirks } = {},
): PushSetUp {
  const sandbox = createSandbox(sandboxOptions);
  const entries = new Map<string, string>();
  const ids = existing.map((fields) => sandbox.store.products.insert({ ...fields }).id);
  const client = createClient({
    ...sandbox.clientOptions,
    fetch: quirky(sandbox.fetch, quirks),
    ...clientOptions,
  });
  const run = async (rows: Options['rows'], options: Partial<Options> = {}) => {
    const results: PushResult[] = [];
    const onResult = (result: PushResult) => void results.push(result);
    sandbox.clearLogs();
    // A wait for a product to become visible takes no time: on the virtual clock anyway.
    const waits = vi.isFakeTimers() ? {} : { visibleAfterMs: 0 };
    const asked = { tenant: 'shop', rows, key: productNumber, store: entries, onResult, ...waits };
    const running = push(client.products, { ...asked, ...options });
    const report = await (vi.isFakeTimers() ? runUntilSettled(running) : running);
    const done = results.map(({ key, action }) => `${key} ${action}`).sort();
    return { report, results, done, commits: sandbox.journal.map(({ action }) => action) };
  };
  return { sandbox, client, ids, entries, run };
}
