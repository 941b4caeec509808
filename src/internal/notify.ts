import { isPromise } from './realm.ts';

/** Calls a listener of the caller's. What it throws never affects the call; `onFailure` may report it. */
export function notify<V>(
  listener: ((value: V) => unknown) | undefined,
  value: V,
  onFailure: (thrown: unknown) => void = () => undefined,
): void {
  try {
    const result = listener?.(value);
    // An async listener is not awaited, but its failure must not become an unhandled rejection.
    if (isPromise(result)) result.then(undefined, onFailure);
  } catch (error) {
    onFailure(error);
  }
}
