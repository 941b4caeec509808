import { createClient, type Listeners, memoryStore, sync } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test, vi } from 'vitest';

const quiet = () => ({ debug: vi.fn(), info: vi.fn(), warn: vi.fn() });

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
