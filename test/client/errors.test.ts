import { inspect } from 'node:util';
import * as sdk from 'accounting-data-sdk';
import { expect, test, vi } from 'vitest';
import { provocations } from '../support/provocations.ts';
import { loadTransport } from '../support/virtual-clock.ts';

const KEY = 'secret-key-of-the-company';

// Its time counts towards timeouts.
await loadTransport();

/** Each error is provoked by the first test that needs it: mutation testing does not see what a file does while it loads. */
const errors = provocations.map(({ provoke, ...row }) => {
  let provoked: Promise<unknown> | undefined;
  const error = async () => {
    provoked ??= provoke(KEY);
    return (await provoked) as sdk.AnyAccountingError;
  };
  return { ...row, error };
});

type ErrorClass = typeof sdk.NotFoundError;
const classOf = (name: string, from: object = sdk) =>
  (from as Record<string, ErrorClass>)[name] as ErrorClass;

/** Every class that can be thrown: the abstract ones are extended by others. */
const classes = Object.entries(sdk)
  .filter(([, value]) => typeof value === 'function' && value.prototype instanceof Error)
  .map(([name]) => name)
  .filter((name) => !['AccountingError', 'ApiError', 'ApiErrorFields'].includes(name));

let other: typeof sdk | undefined;

/** Another copy of the package. The first copy loads some modules late, so it provokes every error before. */
async function otherCopy(): Promise<typeof sdk> {
  for (const { error } of errors) await error();
  if (other === undefined) {
    vi.resetModules();
    other = await import('accounting-data-sdk');
  }
  return other;
}

test('every class that can be thrown is provoked, under a code of its own', () => {
  expect(new Set(provocations.map(({ name }) => name))).toEqual(new Set(classes));
  expect(new Set(provocations.map(({ code }) => code)).size).toBe(classes.length);
});

test.each(errors)(
  '$what is a $name, which says in one line what happened and what to do',
  async ({ error: provoked, name, code, outcome, words }) => {
    const error = await provoked();
    expect(error).toMatchObject({ name, code, outcome });
    const line = String(error);
    for (const word of words) expect(line).toMatch(word);
    expect(line).toMatch(/^\w+Error: [^\n]*[^\s.!?:;,][.!?]$/);
    // What an argument lacks says what to do.
    expect(error.code === 'invalid_input' || line.endsWith(`. ${error.hint}`), line).toBe(true);
    expect(line).not.toMatch(/see cause|undefined|\[object/i);
    if (error.method === 'GET') expect(line).not.toMatch(/outcome/);
    const sentences = line.replace(/\(.*?\)/g, '').split(/(?<=[.:]) /);
    expect(sentences).toEqual([...new Set(sentences)]);
  },
);

test.each(errors)(
  'the error of $what belongs to its class and no other, in every copy of the package',
  async ({ error: provoked, name }) => {
    const [error, other] = [await provoked(), await otherCopy()];
    for (const [own, copy] of [
      [sdk, other],
      [other, sdk],
    ] as const) {
      expect(classOf(name, own)).not.toBe(classOf(name, copy));
      for (const each of classes) expect(error instanceof classOf(each, own)).toBe(each === name);
      expect(error instanceof own.AccountingError).toBe(true);
      expect(own.isAccountingError(error, error.code)).toBe(true);
      expect(own.isAccountingError(error, error.code === 'timeout' ? 'checkpoint' : 'timeout')).toBe(false);
      expect(own.isApiError(error)).toBe(error instanceof sdk.ApiError);
    }
    expect(structuredClone(error)).toBeInstanceOf(Error);
    expect((structuredClone(error) as Error).message).toBe(error.message);
  },
);

test.each(errors)(
  'the error of $what is printed with its stack and fields, without the key',
  async ({ error: provoked, name, code }) => {
    const error = await provoked();
    const text = inspect([error], { depth: 11 });
    expect(text).toContain(`${name}: ${error.message}`);
    expect(text).toMatch(/\n +at /);
    expect(text).toContain(`code: '${code}'`);
    const json = JSON.stringify(error);
    expect(JSON.parse(json)).toMatchObject({ name, message: error.message, code });
    expect(json).not.toContain('"stack"');
    expect(text + json).not.toContain(KEY);
  },
);

test.each(classes)(
  '%s is printed with its cause: names, messages and codes, and nothing else',
  async (name) => {
    const error = await errors.find((row) => row.name === name)?.error();
    const socket = Object.assign(new Error('socket closed'), { code: 'E_SOCKET', request: { key: KEY } });
    const cause = new RangeError('pool is empty', { cause: socket });
    // A SyncError prints the causes of its reasons.
    const failed = error instanceof sdk.SyncError ? error.errors[0]?.error : error;
    Object.defineProperty(failed, 'cause', {
      value: Object.assign(cause, { code: 'E_POOL', key: KEY }),
      configurable: true,
    });
    // A report is shown in whole at the depth of `console.log`.
    const text = inspect(error, error instanceof sdk.SyncError ? {} : { depth: 10 });
    for (const part of ['RangeError', 'pool is empty', 'E_POOL', 'socket closed', 'E_SOCKET']) {
      expect(text).toContain(part);
    }
    const printed = JSON.parse(JSON.stringify(error));
    expect((error instanceof sdk.SyncError ? printed.errors[0] : printed).cause).toEqual({
      name: 'RangeError',
      message: 'pool is empty',
      code: 'E_POOL',
      cause: { name: 'Error', message: 'socket closed', code: 'E_SOCKET' },
    });
    expect(text + JSON.stringify(error)).not.toContain(KEY);
  },
);

test('other values are no errors of this package', () => {
  for (const value of [undefined, null, 7, 'not_found', { code: 'not_found' }, new Error('x'), () => {}]) {
    expect(sdk.isAccountingError(value)).toBe(false);
    expect(sdk.isApiError(value)).toBe(false);
    expect(value instanceof sdk.AccountingError).toBe(false);
    expect(value instanceof sdk.NotFoundError).toBe(false);
  }
});
