import { createClient, type Listeners, memoryStore, push, type RunEnd, sync } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test, vi } from 'vitest';
import { caught } from '../../support/caught.ts';

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

test('a listener or a logger that throws is named in a warning, and changes nothing', async () => {
  const logger = quiet();
  const bad = (what: string) => (): never => {
    throw new Error(`bad ${what}`);
  };
  logger.debug.mockImplementationOnce(bad('logger'));
  const { report } = await runOf(
    [{ run: bad('run'), end: vi.fn().mockImplementationOnce(bad('end')) }],
    logger,
  );
  expect(report.records).toBe(3);
  expect(logger.warn.mock.calls.flat()).toEqual([
    'accounting-data-sdk: the listener on.run threw Error: bad run',
    'accounting-data-sdk: the logger threw Error: bad logger',
    'accounting-data-sdk: the listener on.end threw Error: bad end',
  ]);
});

test('a logger that throws at a warning about a collection is named in the next one, and changes nothing', async () => {
  const logger = quiet();
  logger.warn.mockImplementationOnce(() => {
    throw new Error('bad logger');
  });
  const client = createClient({ ...createSandbox().clientOptions, logger });
  const misspelt: object = { nmae: 'Desk' };
  expect(await client.products.create({ name: 'Desk', ...misspelt })).toMatchObject({ name: 'Desk' });
  expect(logger.warn.mock.calls.flat()).toEqual([
    expect.stringContaining('nmae is not a documented field'),
    'accounting-data-sdk: the logger threw Error: bad logger',
  ]);
});

test('a listener around a push that fails gets its error and its report', async () => {
  let end: RunEnd | undefined;
  const run: NonNullable<Listeners['run']> = async (_, work) => {
    end = await work();
  };
  const sandbox = createSandbox();
  sandbox.faults.add({ kind: 'status', status: 401 }, { method: 'POST' });
  const client = createClient({ ...sandbox.clientOptions, on: { run } });
  const rows = [{ productNumber: 'P-1', name: 'Desk' }];
  const error = await caught(
    push(client.products, { tenant: 'acme', store: memoryStore(), key: 'productNumber', rows }),
  );
  expect(error).toMatchObject({ code: 'push_failed' });
  expect(end?.error).toBe(error);
  expect(end?.report).toMatchObject({ tenant: 'acme', rows: 1, counts: { created: 0 } });
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
