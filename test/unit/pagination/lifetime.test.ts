import { expect, test } from 'vitest';
import { byPage } from '../../../src/pagination/by-page.ts';
import { byCursor } from '../../../src/pagination/custom.ts';
import { byKeyset } from '../../../src/pagination/keyset/keyset.ts';
import type { FetchPage, Pages } from '../../../src/pagination/page.ts';
import type { ReadOptions } from '../../../src/pagination/read-options.ts';
import { ids, listing, pagesOf, type Row, settle } from './services.ts';

type Way = (fetchPage: FetchPage<Row>, options: ReadOptions) => Pages<Row>;

const pages: Way = (fetchPage, options) =>
  byPage(fetchPage, { ...options, start: 1, afterLastPage: 'empty' });
const keyset: Way = (fetchPage, options) => byKeyset(fetchPage, { ...options, afterLastPage: 'empty' });
const custom: Way = (fetchPage, options) => {
  const next = ({ ids }: { ids: readonly string[] }) =>
    ids.length === 0 ? undefined : { id: { gt: ids.at(-1) } };
  return byCursor(fetchPage, { first: {}, next }, options);
};
const ways = [
  ['page', pages],
  ['keyset', keyset],
  ['custom', custom],
] as const;

/** A service whose first answers come and whose later ones never do; it counts what is in flight. */
function stalling(answers: number) {
  const { fetchPage } = listing(ids(1, 40), 10);
  const state = { inFlight: 0, asked: 0 };
  const stalled: FetchPage<Row> = (query, signal) => {
    if (++state.asked <= answers) return fetchPage(query, signal);
    state.inFlight++;
    return new Promise((_, reject) => {
      const stop = () => {
        state.inFlight--;
        reject(signal?.reason);
      };
      if (signal?.aborted) return stop();
      signal?.addEventListener('abort', stop, { once: true });
    });
  };
  return { state, fetchPage: stalled };
}

/** A signal that counts its listeners. */
function countedSignal() {
  const controller = new AbortController();
  const { signal } = controller;
  const listeners = new Set<unknown>();
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners.add(args[1]);
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    if (args[0] === 'abort') listeners.delete(args[1]);
    remove(...args);
  };
  return { controller, signal, listeners: () => listeners.size };
}

test.each(ways)('%s: leaving the loop aborts what is in flight', async (name, way) => {
  const { state, fetchPage } = stalling(name === 'keyset' ? 2 : 1);
  for await (const _ of way(fetchPage, { prefetch: 1 })) {
    expect(state.inFlight).toBe(1);
    break;
  }
  expect(state.inFlight).toBe(0);
});

test.each(ways)('%s: return() does not wait for a request that is under way', async (_, way) => {
  const { state, fetchPage } = stalling(0);
  const walk = way(fetchPage, { prefetch: 1 });
  const pending = walk.next();
  await settle();
  expect(state.inFlight).toBe(1);
  await walk.return();
  expect(state.inFlight).toBe(0);
  expect(await pending).toEqual({ done: true, value: undefined });
});

test('a walk by pages that fails aborts what it has asked for behind the failure', async () => {
  const signals: (AbortSignal | undefined)[] = [];
  const { fetchPage } = listing(ids(1, 40), 10);
  const failing: FetchPage<Row> = (query, signal) => {
    if (query.page === 1) return fetchPage(query, signal);
    if (query.page === 2) return Promise.reject(new Error('fails'));
    signals.push(signal);
    return new Promise(() => undefined);
  };
  await expect(pagesOf(pages(failing, { prefetch: 3 }))).rejects.toThrow('fails');
  expect(signals.map((signal) => signal?.aborted)).toEqual([true, true]);
});

test.each(ways)('%s: an abort rejects with the reason of the signal', async (_, way) => {
  const { state, fetchPage } = stalling(0);
  const { controller, signal } = countedSignal();
  const pending = way(fetchPage, { prefetch: 1, signal }).next();
  await settle();
  const reason = new Error('enough');
  controller.abort(reason);
  await expect(pending).rejects.toBe(reason);
  expect(state.inFlight).toBe(0);
});

test.each(ways)('%s: an abort between two steps delivers nothing more', async (_, way) => {
  const { fetchPage, asked } = listing(ids(1, 40), 10);
  const { controller, signal } = countedSignal();
  const walk = way(fetchPage, { prefetch: 1, signal });
  await walk.next();
  await settle();
  const before = asked.length;
  const reason = new Error('enough');
  controller.abort(reason);
  await expect(walk.next()).rejects.toBe(reason);
  expect(asked).toHaveLength(before);
});

test.each(ways)('%s: a signal that was aborted before lets nothing be asked for', async (_, way) => {
  const { fetchPage, asked } = listing(ids(1, 40), 10);
  const reason = new Error('before');
  const walk = way(fetchPage, { prefetch: 1, signal: AbortSignal.abort(reason) });
  await expect(walk.next()).rejects.toBe(reason);
  expect(asked).toEqual([]);
});

test.each(ways)('%s: no listener is left on the signal', async (_, way) => {
  const counted = countedSignal();
  const options = { prefetch: 1, signal: counted.signal };
  const { fetchPage } = listing(ids(1, 40), 10);
  way(fetchPage, options);
  expect(counted.listeners()).toBe(0);
  await pagesOf(way(fetchPage, options));
  for await (const _step of way(fetchPage, options)) break;
  const failing = way(() => Promise.reject(new Error('fails')), options);
  await expect(failing.next()).rejects.toThrow('fails');
  expect(counted.listeners()).toBe(0);
});

test.each(ways)('%s: without look-ahead nothing is asked for before the consumer asks', async (name, way) => {
  const { fetchPage, asked } = listing(ids(1, 40), 10);
  const walk = way(fetchPage, { prefetch: 0 });
  await settle();
  expect(asked).toHaveLength(0);
  await walk.next();
  await settle();
  // The first answer may have been cut: a keyset walk asks once more, for less.
  expect(asked).toHaveLength(name === 'keyset' ? 2 : 1);
  await walk.return();
});
