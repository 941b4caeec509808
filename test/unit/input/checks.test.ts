import { describe, expect, test } from 'vitest';
import { InvalidInputError } from '../../../src/errors/invalid-input-error.ts';
import {
  checkId,
  checkMethods,
  checkObject,
  checkText,
  checkTimestamp,
  readable,
} from '../../../src/input/checks.ts';

/** Each is an error about the argument, which does not quote the value. */
function rejects(check: (value: never, argument: string) => unknown, values: readonly unknown[]) {
  for (const value of values) {
    const checking = () => check(value as never, 'the argument');
    expect(checking, String(value)).toThrow(InvalidInputError);
    expect(checking).toThrow(/^the argument: must /);
  }
}

describe('what callers pass', () => {
  test('is a moment of the years 0 to 9999, which a text has with its offset', () => {
    const first = '0000-01-01T00:00:00Z';
    for (const text of [
      '0100-01-01',
      '2026-01-31',
      '2026-01-31T12:00:00.5+02:00',
      '9999-12-31T23:59:59.999Z',
    ])
      expect(checkTimestamp(text, '')).toBe(text);
    const last = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
    expect(checkTimestamp(new Date(last), '')).toBe('9999-12-31T23:59:59.999Z');
    expect(checkTimestamp(new Date(Date.parse(first)), '')).toBe('0000-01-01T00:00:00.000Z');
    const dates = [last + 1, Date.parse(first) - 1, Number.NaN].map((ms) => new Date(ms));
    const texts = ['2026-01-31T12:00:00', '2026-02-30', '9999-12-31T23:59:59.999-01:00', 'soon', ''];
    rejects(checkTimestamp, [...dates, ...texts, 5, null, undefined]);
  });

  test('is an id that can be one segment of a path', () => {
    for (const id of ['7', '...', '.a', 'a/b', 'é', ' ']) expect(checkId(id)).toBe(id);
    rejects(checkId, ['', '.', '..', 'a\nb', '\u007f', '\ud83d', 7, null]);
  });

  test('is a text that reaches the service unchanged', () => {
    expect(checkText('Zoë 😀', '')).toBe('Zoë 😀');
    rejects(checkText, ['', 'a\u0000', '\udc00', 7, undefined]);
  });

  test('is an object, or one that has all methods', () => {
    rejects(checkObject, [null, [], 'x', undefined]);
    const store = { get() {}, set() {} };
    expect(checkMethods(store, '', ['get', 'set'])).toBe(store);
    rejects((value, argument) => checkMethods(value, argument, ['get', 'set']), [{ get() {} }, null, 'x']);
  });

  test('may throw when it is read, which is the cause of the error', () => {
    const thrown = new TypeError('revoked');
    const read = (error: unknown) => () =>
      readable('rows[4]', () => {
        throw error;
      });
    expect(read(thrown)).toThrow(
      expect.objectContaining({
        message: expect.stringContaining('it threw TypeError: revoked'),
        cause: thrown,
      }),
    );
    expect(read('')).toThrow('rows[4]: cannot be read: it threw a value that is no error');
    const own = new InvalidInputError('rows[4].name', 'must be a string');
    expect(read(own)).toThrow(own);
  });
});
