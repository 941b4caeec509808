// Reads what the caller passed: rows, local ids.

import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { untilAborted } from '../internal/callback.ts';

export function isIterable(value: unknown): value is Iterable<unknown> | AsyncIterable<unknown> {
  return (
    typeof value === 'object' && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value)
  );
}

/**
 * Each value of an iterable. It is closed however the read ends, because it can hold the cursor of a database; one that
 * never yields again is left behind when the signal fires.
 */
export async function* each<V>(
  values: Iterable<V> | AsyncIterable<V>,
  argument: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<V, void, undefined> {
  // A function of the caller can return anything.
  if (!isIterable(values))
    throw new InvalidInputError(argument, 'must return an Iterable or an AsyncIterable');
  const isAsync = Symbol.asyncIterator in values;
  const iterator = isAsync ? values[Symbol.asyncIterator]() : values[Symbol.iterator]();
  let isOpen = true;
  try {
    for (;;) {
      signal?.throwIfAborted();
      const next = iterator.next();
      const { done, value } = isAsync
        ? await untilAborted(Promise.resolve(next), signal)
        : (next as IteratorResult<V>);
      if (done) {
        isOpen = false;
        return;
      }
      yield value;
    }
  } finally {
    // Not awaited: it may never settle, and what it throws would hide why the read ended.
    if (isOpen) Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}
