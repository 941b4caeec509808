/**
 * Keeps the copies of many companies up to date in one process: a few at a time, each with its own key, and a failure
 * of one is no matter of the others.
 *
 * The companies are read from a JSON file, `[{ "tenant": "acme", "baseUrl": "https://…", "apiKey": "…" }]`. Without
 * one, three of them are played by sandboxes, one with a key that was revoked.
 */
import { readFile } from 'node:fs/promises';
import {
  type Batch,
  createClient,
  type FetchFunction,
  isAccountingError,
  type Store,
  sync,
} from 'accounting-data-sdk';
import { fileStore } from 'accounting-data-sdk/node';
import { createSandbox } from 'accounting-data-sdk/testing';

export interface Tenant {
  /** A label for the company: never its key. */
  readonly tenant: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly fetch?: FetchFunction;
}

/** What became of one company. */
export interface Outcome {
  readonly tenant: string;
  readonly records: number;
  /** Why it was not brought up to date, or not all of it. */
  readonly problem?: string;
  /** Collections that the key may not read, as is normal for a key with limited rights. */
  readonly forbidden?: readonly string[];
}

export interface ManyOptions {
  readonly store: Store;
  readonly onBatch: (tenant: string, batch: Batch<{ id: string }>) => unknown;
  /** Companies at a time. Each has a budget of its own. */
  readonly atOnce: number;
}

/** Syncs every company, and tells what became of each. */
export async function syncMany(tenants: readonly Tenant[], options: ManyOptions): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const queue = [...tenants];
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      outcomes.push(await syncOne(next, options));
    }
  };
  await Promise.all(Array.from({ length: options.atOnce }, worker));
  return outcomes;
}

async function syncOne({ tenant, ...connection }: Tenant, { store, onBatch }: ManyOptions): Promise<Outcome> {
  try {
    const client = createClient(connection);
    const report = await sync(client, { store, tenant, onBatch: (batch) => onBatch(tenant, batch) });
    const forbidden = report.collections.filter(({ status }) => status === 'forbidden');
    if (forbidden.length === 0) return { tenant, records: report.records };
    return { tenant, records: report.records, forbidden: forbidden.map(({ collection }) => collection) };
  } catch (error) {
    // Some collections failed; the others are up to date, and what was committed is kept.
    if (isAccountingError(error, 'sync_failed')) {
      const failed = error.errors.map((each) => `${each.collection} (${describe(each.error)})`);
      return { tenant, records: error.report.records, problem: failed.join(', ') };
    }
    return { tenant, records: 0, problem: describe(error) };
  }
}

function describe(error: unknown): string {
  return isAccountingError(error) ? error.code : String(error);
}

function sandboxes(): Tenant[] {
  return ['acme', 'bolt', 'crane'].map((tenant, index) => {
    const sandbox = createSandbox({ seed: index + 1, records: 300 });
    const apiKey = tenant === 'bolt' ? sandbox.keys.revoked : sandbox.keys.full;
    return { tenant, baseUrl: sandbox.baseUrl, apiKey, fetch: sandbox.fetch };
  });
}

if (process.argv[1] === import.meta.filename) {
  const file = process.argv[2];
  const tenants = file === undefined ? sandboxes() : (JSON.parse(await readFile(file, 'utf8')) as Tenant[]);
  const store = file === undefined ? new Map<string, string>() : fileStore('./state');
  const outcomes = await syncMany(tenants, { store, onBatch: () => undefined, atOnce: 4 });
  for (const { tenant, records, problem } of outcomes) {
    console.log(`${tenant}: ${records} records${problem === undefined ? '' : `, failed: ${problem}`}`);
  }
}
