import type { WalkSteps } from './page.ts';

/**
 * Ties a walk's requests to its consumer: the caller's signal stops them, and so does leaving the loop.
 *
 * An async generator alone would not do: its `return()` waits for a pending `next()`, and with it for a
 * request that nobody needs any more.
 */
export function withLifetime<T>(
  signal: AbortSignal | undefined,
  walk: (signal: AbortSignal) => WalkSteps<T>,
): WalkSteps<T> {
  const controller = new AbortController();
  let left = false;

  async function* run(): WalkSteps<T> {
    // Bound late, so that a walk that is never begun holds on to nothing.
    const forward = () => controller.abort(signal?.reason);
    if (signal?.aborted) forward();
    signal?.addEventListener('abort', forward);
    try {
      yield* walk(controller.signal);
    } catch (error) {
      // The consumer has left: what its own leaving aborted is no failure.
      if (!left) throw error;
    } finally {
      signal?.removeEventListener('abort', forward);
      controller.abort();
    }
  }

  const steps = run();
  const finish = steps.return.bind(steps);
  return Object.assign(steps, {
    return: (value: PromiseLike<undefined> | undefined) => {
      left = true;
      controller.abort();
      return finish(value);
    },
  });
}

/**
 * Marks a promise as awaited later, by a consumer that may never come: a failed look-ahead is thrown where it
 * is consumed, and until then is no unhandled rejection.
 */
export function awaitedLater<V>(promise: Promise<V>): Promise<V> {
  promise.catch(() => undefined);
  return promise;
}
