import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ClientOptions, createClient } from 'accounting-data-sdk';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { onTestFinished } from 'vitest';
import { type PushOptions, push } from '../../../../examples/product-push/src/push.ts';
import { State } from '../../../../examples/product-push/src/state.ts';

/** A folder that is gone after the test. */
export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'product-push-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A shop whose export is pushed to a sandbox, run after run, with the state on disk in between. */
export async function openShop(sandboxOptions: SandboxOptions = {}, clientOptions: ClientOptions = {}) {
  const sandbox = createSandbox(sandboxOptions);
  const folder = await newFolder();
  const statePath = join(folder, 'state.json');
  const client = createClient({ ...sandbox.clientOptions, retry: { baseDelayMs: 1 }, ...clientOptions });
  const writes = () => sandbox.count(({ method }) => method !== 'GET');

  return {
    sandbox,
    client,
    statePath,
    /** How many requests there were that change something. */
    writes,
    /** One run, as a process of its own would make it: the state is read from disk. */
    async run(csv: string, options: Partial<PushOptions> = {}) {
      const state = await State.load(statePath, client.products.baseUrl);
      const now = () => sandbox.clock.now();
      const report = await push({ client, csv, state, now, ...options });
      const actions = report.results.map(({ productNumber, action }) => `${productNumber} ${action}`);
      return { ...report, actions };
    },
    /** The number of every product, sorted. */
    numbers: () =>
      sandbox.store.products
        .all()
        .map(({ productNumber }) => productNumber)
        .sort(),
  };
}

/** An export with so many products. */
export function exportOf(count: number): string {
  const rows = Array.from(
    { length: count },
    (_, index) => `P-${index + 1},Product ${index + 1},${index + 1}.50`,
  );
  return ['sku,title,price', ...rows].join('\n');
}

/** The numbers that are in {@link exportOf}, sorted. */
export const numbersOf = (count: number) =>
  Array.from({ length: count }, (_, index) => `P-${index + 1}`).sort();
