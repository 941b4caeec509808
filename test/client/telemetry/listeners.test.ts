import { createClient, type Listeners, memoryStore, sync } from 'accounting-data-sdk';
import { telemetryListeners } from 'accounting-data-sdk/opentelemetry';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test, vi } from 'vitest';
import { record } from './support/recorder.ts';

const quiet = () => ({ debug: vi.fn(), info: vi.fn(), warn: vi.fn() });

test('every listener object of an array is called, in order', async () => {
  const sandbox = createSandbox({ records: { products: 1 } });
  const recorded = record();
  const called: string[] = [];
  const client = createClient({
    ...sandbox.clientOptions,
    on: [
      { request: () => void called.push('first') },
      telemetryListeners(recorded.options),
      { request: () => void called.push('last'), error: undefined },
    ],
  });
  await client.products.get('1');
  expect(called).toEqual(['first', 'last']);
  expect(await recorded.spans()).toHaveLength(1);
});

test('a misspelt listener in an array is rejected with its place', () => {
  const options = {
    baseUrl: 'https://books.example',
    apiKey: 'k',
    on: [{}, { reqest: () => {} }] as Listeners[],
  };
  expect(() => createClient(options)).toThrow(/^on\[1\]\.reqest.*Did you mean request\?/);
});

const runOf = async (on: Listeners[], logger = quiet()) => {
  const sandbox = createSandbox({ records: { accounts: 3 } });
  const client = createClient({ ...sandbox.clientOptions, logger, on });
  const onBatch = vi.fn();
  const report = await sync(client, {
    store: memoryStore(),
    tenant: 'acme',
    collections: ['accounts'],
    onBatch,
  });
  return { report, onBatch, logger, requests: sandbox.requests.length };
};

test('listeners around a run are nested, the first outside', async () => {
  const seen: unknown[] = [];
  const around = (name: string): Listeners => ({
    async run(event, work) {
      seen.push(`${name} begins ${event.name} of ${event.tenant}: ${event.collections}`);
      const { error, report } = await work();
      const collections = report !== undefined && 'collections' in report ? report.collections : [];
      seen.push(`${name} ends with ${error}, ${collections.map(({ status }) => status)}`);
    },
  });
  await runOf([around('first'), { request: () => {} }, around('second')]);
  expect(seen).toEqual([
    'first begins sync of acme: accounts',
    'second begins sync of acme: accounts',
    'second ends with undefined, done',
    'first ends with undefined, done',
  ]);
});

/** What a listener calls when the run has ended. */
const late: (() => unknown)[] = [];

test.for<[how: string, run: NonNullable<Listeners['run']>]>([
  ['does not call the work', () => undefined],
  ['calls it twice', (_, work) => Promise.all([work(), work()])],
  ['calls it late', (_, work) => void late.push(work)],
  [
    'throws',
    () => {
      throw new Error('bad listener');
    },
  ],
])('a run happens once, even if a listener around it %s', async ([_, run]) => {
  const last = vi.fn<NonNullable<Listeners['run']>>();
  const plain = await runOf([]);
  const { report, onBatch, requests } = await runOf([{ run }, { run: last }]);
  for (const work of late.splice(0)) await work();
  expect(report.records).toBe(3);
  expect(onBatch).toHaveBeenCalledTimes(plain.onBatch.mock.calls.length);
  expect(requests).toBe(plain.requests);
  expect(last).toHaveBeenCalledTimes(1);
});

test('listeners around a run get its error, which is no failure of theirs', async () => {
  const logger = quiet();
  const errors: unknown[] = [];
  const client = createClient({
    ...createSandbox().clientOptions,
    logger,
    on: { run: async (_, work) => void errors.push((await work()).error) },
  });
  const reason = new Error('enough');
  const run = sync(client, {
    store: memoryStore(),
    tenant: 'acme',
    onBatch: () => {},
    signal: AbortSignal.abort(reason),
  });
  await expect(run).rejects.toBe(reason);
  expect(errors).toEqual([reason]);
  expect(logger.warn).not.toHaveBeenCalled();
});
