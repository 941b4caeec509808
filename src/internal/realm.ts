// `instanceof` is false for a value of another realm. Jest and vitest's `vmThreads` run each test file in one of its own.

const tagOf = (value: unknown): string => Object.prototype.toString.call(value);

/** Whether a value is an error, such as a TypeError, a DOMException, or an object that only inherits from Error. */
export function isError(value: unknown): value is Error {
  const { isError } = Error as { isError?: (value: unknown) => boolean };
  return (
    isError?.(value) === true ||
    value instanceof Error ||
    /^\[object (?:Error|DOMException)\]$/.test(tagOf(value))
  );
}

export function isDate(value: unknown): value is Date {
  return value instanceof Date || tagOf(value) === '[object Date]';
}

/** Whether a value is a Map itself: one of a class that extends Map may show its entries to other processes. */
export function isPlainMap(value: unknown): boolean {
  if (tagOf(value) !== '[object Map]') return false;
  const ofMap = Object.getPrototypeOf(value);
  return Object.hasOwn(ofMap, 'clear') && Object.getPrototypeOf(Object.getPrototypeOf(ofMap)) === null;
}

export function isPromise(value: unknown): value is Promise<unknown> {
  return typeof (value as Partial<Promise<unknown>> | null | undefined)?.then === 'function';
}
