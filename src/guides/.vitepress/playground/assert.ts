import { inspect } from './inspect.ts';

// What the guides use of `node:assert/strict`.

class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

function fail(message: string | undefined, usual: string): never {
  throw new AssertionError(message ?? usual);
}

/** Numbers, strings and the like, dates, and what consists of them. */
function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false;
  if (one instanceof Date) return one.getTime() === (other as Date).getTime();
  if (one instanceof Map) return isSame([...one], [...(other as Map<unknown, unknown>)]);
  if (one instanceof Set) return isSame([...one], [...(other as Set<unknown>)]);
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every(
      (name) => Object.hasOwn(other, name) && isSame(Reflect.get(one, name), Reflect.get(other, name)),
    )
  );
}

export function ok(value: unknown, message?: string): asserts value {
  if (!value) fail(message, `${inspect(value)} is not truthy`);
}

export function equal(actual: unknown, expected: unknown, message?: string): void {
  if (!Object.is(actual, expected)) fail(message, `${inspect(actual)} is not ${inspect(expected)}`);
}

export function notEqual(actual: unknown, expected: unknown, message?: string): void {
  if (Object.is(actual, expected)) fail(message, `${inspect(actual)} is not another value`);
}

export function deepEqual(actual: unknown, expected: unknown, message?: string): void {
  if (!isSame(actual, expected)) fail(message, `${inspect(actual)}\nis not equal to\n${inspect(expected)}`);
}

export function match(text: string, pattern: RegExp, message?: string): void {
  if (!pattern.test(text)) fail(message, `${inspect(text)} does not match ${pattern}`);
}

export async function rejects(
  promise: Promise<unknown> | (() => Promise<unknown>),
  expected?: RegExp,
): Promise<void> {
  try {
    await (typeof promise === 'function' ? promise() : promise);
  } catch (error) {
    if (expected !== undefined) match(String(error), expected);
    return;
  }
  fail(undefined, 'The promise did not reject.');
}

const assert = Object.assign(ok, {
  ok,
  equal,
  notEqual,
  deepEqual,
  match,
  rejects,
  strictEqual: equal,
  deepStrictEqual: deepEqual,
});
export default assert;
