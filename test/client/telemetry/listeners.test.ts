import { createClient, type Listeners } from 'accounting-data-sdk';
import { telemetryListeners } from 'accounting-data-sdk/opentelemetry';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test, vi } from 'vitest';
import { thrown } from '../../support/caught.ts';
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
  expect(await recorded.spans()).toHaveLength(2);
});

test.each<[how: string, request: NonNullable<Listeners['request']>]>([
  [
    'throws',
    () => {
      throw new Error('bad listener');
    },
  ],
  ['rejects', async () => Promise.reject(new Error('bad listener'))],
])('the other listeners are called if one %s, and the logger names it', async (_, request) => {
  const sandbox = createSandbox({ records: { products: 1 } });
  const logger = quiet();
  const last = vi.fn();
  const client = createClient({ ...sandbox.clientOptions, logger, on: [{ request }, { request: last }] });
  await client.products.get('1');
  expect(last).toHaveBeenCalledOnce();
  await vi.waitFor(() =>
    expect(logger.warn).toHaveBeenCalledWith(
      'accounting-data-sdk: the listener on.request threw Error: bad listener',
    ),
  );
});

test('the methods of a listener object of a class keep their this', async () => {
  class Counter {
    requests = 0;
    request() {
      this.requests += 1;
    }
  }
  const sandbox = createSandbox({ records: { products: 1 } });
  const counters = [new Counter(), new Counter()];
  await createClient({ ...sandbox.clientOptions, on: counters }).products.get('1');
  expect(counters.map(({ requests }) => requests)).toEqual([1, 1]);
});

test('a misspelt listener in an array is rejected with its place', () => {
  const on = [{}, { reqest: () => {} }] as Listeners[];
  const options = { baseUrl: 'https://books.example', apiKey: 'k', on };
  expect(thrown(() => createClient(options))).toMatchObject({
    code: 'invalid_input',
    argument: 'on[1].reqest',
    message: expect.stringContaining('Did you mean request?'),
  });
});

test.each([[null], ['log'], [[[]]], [[null]]])('%j is rejected as listeners', (on) => {
  const options = { baseUrl: 'https://books.example', apiKey: 'k', on: [on] as never };
  expect(thrown(() => createClient(options))).toMatchObject({ argument: 'on' });
});
