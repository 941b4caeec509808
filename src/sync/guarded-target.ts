import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { Semaphore } from '../internal/semaphore.ts';
import type { CallerCode } from '../reading/caller-code.ts';
import { isIterable } from '../reading/each.ts';
import type { Ids } from './listing.ts';
import type { OpenTarget } from './target.ts';

/** Whether the target is one, or made of the functions that the caller gave: messages name these. */
export type TargetNames = 'target' | 'functions';

/** The same target, each of whose methods is called through `code`, and one at a time. */
export function guardedTarget(opened: OpenTarget, code: CallerCode, names: TargetNames): OpenTarget {
  const { store, marks, company, localIds } = opened;
  const one = new Semaphore(1);
  const nameOf = (method: string) => (names === 'target' ? `target.${method}` : method);
  const call = <V>(method: string, work: () => V | PromiseLike<V>): Promise<V> =>
    code.run(nameOf(method), () => one.run(async () => await work()));
  /** The last ones do not wait for one that may never end. */
  const callLast = <V>(method: string, work: () => V | PromiseLike<V>): Promise<V> =>
    code.run(nameOf(method), work, 'last');
  const ids = (method: string, values: () => Ids) =>
    checkedIds(
      nameOf(method),
      code.each(nameOf(method), () => inTurn(values(), one)),
    );
  return {
    store: {
      get: (key) => call('store.get', () => store.get(key)),
      set: store.set && ((key, value) => call('store.set', () => store.set?.(key, value))),
    },
    onBatch: (batch) => call('onBatch', () => opened.onBatch(batch)),
    ...(localIds && {
      localIds: (collection) => ids('localIds', () => localIds.call(opened, collection)),
    }),
    ...(opened.onDelete && {
      onDelete: (ids, collection) => call('onDelete', () => opened.onDelete?.(ids, collection)),
    }),
    marks: marks && {
      count: (collection, read) => call('marks.count', () => marks.count(collection, read)),
      unmarked: (collection, read, after) =>
        ids('marks.unmarked', () => marks.unmarked(collection, read, after)),
    },
    company: company && {
      get: () => call('company.get', () => company.get()),
      set: (value) => call('company.set', () => company.set(value)),
    },
    ...(opened.rows && {
      rows: (collection, ids) => call('rows', async () => (await opened.rows?.(collection, ids)) ?? []),
    }),
    ...(opened.replace && {
      replace: (...args) => call('replace', async () => (await opened.replace?.(...args)) ?? false),
    }),
    ...(opened.forget && { forget: () => call('forget', () => opened.forget?.()) }),
    ...(opened.onEnd && { onEnd: (ends) => callLast('onEnd', () => opened.onEnd?.(ends)) }),
    ...(opened.close && { close: () => callLast('close', () => opened.close?.()) }),
  };
}

/** The same ids. Those of a database may come as numbers, which are the ids of no record. */
async function* checkedIds(name: string, ids: Ids): AsyncGenerator<string, void, undefined> {
  for await (const id of ids) {
    if (typeof id !== 'string' || id === '')
      throw new InvalidInputError(name, 'must return ids: non-empty strings');
    yield id;
  }
}

/** The same values. While the next one is fetched, no other method is called. */
async function* inTurn<V>(values: Iterable<V> | AsyncIterable<V>, one: Semaphore): AsyncGenerator<V> {
  if (!isIterable(values) || !(Symbol.asyncIterator in values)) return yield* values;
  const iterator = values[Symbol.asyncIterator]();
  let isOpen = true;
  try {
    for (;;) {
      const next = await one.run(async () => await iterator.next());
      if (next.done) {
        isOpen = false;
        return;
      }
      yield next.value;
    }
  } finally {
    // What it throws would hide why the read ended.
    if (isOpen) Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}
