/** A promise that is settled from outside. */
export function deferred<V>() {
  let resolve: (value: V) => void = () => undefined;
  let reject: (reason: unknown) => void = () => undefined;
  const promise = new Promise<V>((onValue, onReason) => {
    resolve = onValue;
    reject = onReason;
  });
  return { promise, resolve, reject };
}
