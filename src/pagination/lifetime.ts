import type { Pages } from './page.ts';

/**
 * Ties the requests of a read to its consumer: the caller's signal stops them, and so does leaving the loop.
 *
 * An async generator alone is not enough: its `return()` waits for a pending `next()`, and so for a request whose
 * response is no longer needed.
 */
export function withLifetime<T>(
  signal: AbortSignal | undefined,
  read: (signal: AbortSignal) => Pages<T>,
): Pages<T> {
  const controller = new AbortController();
  let left = false;

  async function* run(): Pages<T> {
    // Subscribed here, so that a read that is never iterated holds no reference.
    const forward = () => controller.abort(signal?.reason);
    if (signal?.aborted) forward();
    signal?.addEventListener('abort', forward);
    try {
      yield* read(controller.signal);
    } catch (error) {
      // After the consumer has left, the aborted request is not a failure.
      if (!left) throw error;
    } finally {
      signal?.removeEventListener('abort', forward);
      controller.abort();
    }
  }

  const pages = run();
  const finish = pages.return.bind(pages);
  return Object.assign(pages, {
    return: (value: PromiseLike<undefined> | undefined) => {
      left = true;
      controller.abort();
      return finish(value);
    },
  });
}

/**
 * Marks a promise as awaited later, perhaps never: a failed look-ahead is thrown where it is consumed, and is not an
 * unhandled rejection until then.
 */
export function awaitedLater<V>(promise: Promise<V>): Promise<V> {
  promise.catch(() => undefined);
  return promise;
}
