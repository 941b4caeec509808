import type { ListOptions } from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { listenersOn } from '../../support/open-resources.ts';
import { noResponse } from '../../support/scripted-fetch.ts';
import { settle } from '../../support/scripted-server.ts';
import { all, byId, inside, range, rowsOf, serviceOf } from './service.ts';

const kinds: readonly (readonly [string, ListOptions])[] = [
  ['page', { pagination: 'page' }],
  ['keyset', { pagination: 'keyset' }],
  ['a cursor', { pagination: byId }],
];

/** A service that responds the given number of times and then never again; it counts the requests in flight. */
function stalling(responses: number) {
  const state = { inFlight: 0 };
  const service = serviceOf(({ page = 1, id, count }, signal) => {
    if (count <= responses) return rowsOf(inside(range(1, 40), id).slice((page - 1) * 10, page * 10));
    state.inFlight++;
    return noResponse(signal, () => state.inFlight--);
  });
  return { ...service, state };
}

describe.each(kinds)('a read by %s', (name, options) => {
  test('aborts the request in flight if the caller leaves the loop', async () => {
    const { pages, state } = stalling(name === 'keyset' ? 2 : 1);
    for await (const _ of pages({}, options)) {
      await settle();
      expect(state.inFlight).toBe(1);
      break;
    }
    await settle();
    expect(state.inFlight).toBe(0);
  });

  test.each(['records', 'pages'])(
    'is over after return(), which waits for a next() that is pending: %s',
    async (items) => {
      const { accounts, state } = stalling(9);
      const list = accounts.list({}, options);
      const read = items === 'pages' ? list.pages() : list[Symbol.asyncIterator]();
      const pending = read.next();
      const left = read.return?.();
      const over = { done: true, value: undefined };
      expect([(await pending).done, await left, await read.next()]).toEqual([false, over, over]);
      await settle();
      expect(state.inFlight).toBe(0);
    },
  );

  test.each(['records', 'pages'])('ends at once by its signal, and return() with it: %s', async (items) => {
    const { accounts, state } = stalling(0);
    const controller = new AbortController();
    const list = accounts.list({}, { ...options, signal: controller.signal });
    const read = items === 'pages' ? list.pages() : list[Symbol.asyncIterator]();
    const pending = caught(read.next());
    const left = read.return?.();
    await settle();
    controller.abort('enough');
    expect([await pending, await left]).toEqual(['enough', { done: true, value: undefined }]);
    await settle();
    expect(state.inFlight).toBe(0);
  });

  test('rejects with the reason of its signal, in a request and between two pages', async () => {
    for (const responses of [0, 9]) {
      const { pages, queries, state } = stalling(responses);
      const controller = new AbortController();
      const read = pages({}, { ...options, signal: controller.signal });
      if (responses > 0) await read.next();
      const pending = responses > 0 ? undefined : caught(read.next());
      await settle();
      const before = queries.length;
      const reason = new Error('enough');
      controller.abort(reason);
      expect(await (pending ?? caught(read.next()))).toBe(reason);
      await settle();
      expect(state.inFlight).toBe(0);
      expect(queries).toHaveLength(before);
    }
  });

  test('delivers no further record of a page after an abort', async () => {
    const { accounts } = stalling(9);
    const controller = new AbortController();
    const seen: string[] = [];
    const read = async () => {
      for await (const { id } of accounts.list({}, { ...options, signal: controller.signal })) {
        seen.push(id);
        if (seen.length === 3) controller.abort('enough');
      }
    };
    expect(await caught(read())).toBe('enough');
    expect(seen).toHaveLength(3);
  });

  test('leaves no listener on its signal', async () => {
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
});
