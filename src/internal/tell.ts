/** Calls back a listener of the caller's. Its failure is its own and must not change what it is told of. */
export function tell<V>(listener: ((value: V) => unknown) | undefined, value: V): void {
  try {
    const result = listener?.(value);
    // An async listener is not awaited, but its failure must not become an unhandled rejection.
    if (result instanceof Promise) result.catch(() => undefined);
  } catch {
    // Telling is not doing.
  }
}
