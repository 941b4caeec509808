import type { ListOptions } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { listenersOn } from '../../support/open-resources.ts';
import { settle } from '../../support/scripted-server.ts';
import { all, byId, inside, range, rowsOf, serviceOf } from './service.ts';

const kinds: readonly (readonly [string, ListOptions])[] = [
  ['page', { pagination: 'page' }],
  ['keyset', { pagination: 'keyset' }],
  ['custom', { pagination: byId }],
];

/** A service that responds the given number of times and then never again; it counts the requests in flight. */
function stalling(responses: number) {
  const state = { inFlight: 0 };
  const service = serviceOf(({ page = 1, id, count }, signal) => {
    if (count <= responses) return rowsOf(inside(range(1, 40), id).slice((page - 1) * 10, page * 10));
    state.inFlight++;
    return new Promise((_, reject) => {
      signal?.addEventListener('abort', () => {
        state.inFlight--;
        reject(signal.reason);
      });
    });
  });
  return { ...service, state };
}

test.each(kinds)('leaving the loop aborts the request in flight: %s', async (name, options) => {
  const { pages, state } = stalling(name === 'keyset' ? 2 : 1);
  for await (const _ of pages({}, options)) {
    await settle();
    expect(state.inFlight).toBe(1);
    break;
  }
  await settle();
  expect(state.inFlight).toBe(0);
});

test.each(kinds)('return() does not wait for a request in flight: %s', async (_, options) => {
  const { pages, state } = stalling(0);
  const read = pages({}, options);
  const pending = read.next();
  await settle();
  expect(state.inFlight).toBe(1);
  expect(await read.return?.()).toEqual({ done: true, value: undefined });
  expect(await pending).toEqual({ done: true, value: undefined });
  await settle();
  expect(state.inFlight).toBe(0);
});

test('a read by page that fails aborts the pages ahead', async () => {
  let aborted = 0;
  const { pages } = serviceOf(({ page = 1 }, signal) => {
    if (page === 1) return rowsOf([1]);
    if (page === 2) return new Response('{}', { status: 403 });
    return new Promise((_, reject) => {
      signal?.addEventListener('abort', () => {
        aborted++;
        reject(signal.reason);
      });
    });
  });
  expect(await caught(all(pages({}, { prefetch: 3 })))).toMatchObject({ status: 403 });
  await settle();
  expect(aborted).toBe(2);
});

test.each(kinds)('an abort rejects with the reason of the signal: %s', async (_, options) => {
  const { pages, state } = stalling(0);
  const controller = new AbortController();
  const pending = caught(pages({}, { ...options, signal: controller.signal }).next());
  await settle();
  const reason = new Error('enough');
  controller.abort(reason);
  expect(await pending).toBe(reason);
  await settle();
  expect(state.inFlight).toBe(0);
});

test.each(kinds)('an abort between two pages delivers and requests nothing more: %s', async (_, options) => {
  const { pages, queries } = stalling(9);
  const controller = new AbortController();
  const read = pages({}, { ...options, signal: controller.signal });
  await read.next();
  await settle();
  const before = queries.length;
  const reason = new Error('enough');
  controller.abort(reason);
  expect(await caught(read.next())).toBe(reason);
  expect(queries).toHaveLength(before);
});

test.each(kinds)('an abort in the middle of a page delivers no further record: %s', async (_, options) => {
  const { accounts } = stalling(9);
  const controller = new AbortController();
  const seen: string[] = [];
  const reason = new Error('enough');
  const read = async () => {
    for await (const { id } of accounts.list({}, { ...options, signal: controller.signal })) {
      seen.push(id);
      if (seen.length === 3) controller.abort(reason);
    }
  };
  expect(await caught(read())).toBe(reason);
  expect(seen).toHaveLength(3);
});

test.each(kinds)('a signal that was aborted before lets nothing be requested: %s', async (_, options) => {
  const { pages, queries } = stalling(9);
  const reason = new Error('before');
  expect(await caught(pages({}, { ...options, signal: AbortSignal.abort(reason) }).next())).toBe(reason);
  expect(queries).toEqual([]);
});

test.each(kinds)('no listener is left on the signal: %s', async (_, options) => {
  const { signal } = new AbortController();
  const { pages } = stalling(99);
  pages({}, { ...options, signal });
  expect(listenersOn(signal)).toBe(0);
  await all(pages({}, { ...options, signal }));
  for await (const _page of pages({}, { ...options, signal })) break;
  const failing = serviceOf(() => new Response('{}', { status: 403 }));
  await caught(failing.pages({}, { ...options, signal }).next());
  await settle();
  expect(listenersOn(signal)).toBe(0);
});

test.each(kinds)(
  'without prefetch nothing is requested before the consumer asks: %s',
  async (name, options) => {
    const { pages, queries } = stalling(99);
    const read = pages({}, { ...options, prefetch: 0 });
    await settle();
    expect(queries).toHaveLength(0);
    await read.next();
    await settle();
    // Keyset pagination requests the first interval again, narrowed, because the service may have cut it.
    expect(queries).toHaveLength(name === 'keyset' ? 2 : 1);
    await read.return?.();
  },
);
