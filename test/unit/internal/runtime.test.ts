import { afterEach, expect, test, vi } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { notify } from '../../../src/internal/notify.ts';
import { environment, userAgent } from '../../../src/internal/runtime.ts';
import { MAX_TIMER_MS, sleep } from '../../../src/internal/sleep.ts';
import { hasControlCharacters, isVisibleAscii, isWellFormed } from '../../../src/internal/text.ts';
import { VERSION } from '../../../src/internal/version.ts';
import { caught } from '../../support/caught.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

test('the version is that of the package', () => {
  expect(VERSION).toBe(packageJson.version);
});

test.each([
  ['Node', { process: { versions: { node: '24.0.0' } } }, true],
  ['Deno', { process: undefined, Deno: {} }, true],
  ['Bun', { process: undefined, Bun: {} }, true],
  ['Cloudflare', { process: undefined, navigator: { userAgent: 'Cloudflare-Workers' } }, true],
  ['a browser', { process: undefined, navigator: { userAgent: 'Mozilla/5.0' } }, false],
  [
    'a browser whose bundler has a process',
    { process: { env: {} }, navigator: { userAgent: 'Mozilla/5.0' } },
    false,
  ],
])('a User-Agent is sent by %s: %s', async (_, globals, sent) => {
  for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
  expect(userAgent({ name: 'shop' })).toBe(sent ? `accounting-data-sdk/${VERSION} shop` : undefined);
});

test('an empty variable counts as none', () => {
  vi.stubEnv('ACCOUNTING_X', '');
  expect(environment('ACCOUNTING_X')).toBeUndefined();
  vi.stubEnv('ACCOUNTING_X', 'x');
  expect(environment('ACCOUNTING_X')).toBe('x');
});

test('sleep takes its time and leaves nothing behind', async () => {
  vi.useFakeTimers();
  const { signal } = new AbortController();
  const remove = vi.spyOn(signal, 'removeEventListener');
  let awake = false;
  const slept = sleep(1_000, signal).then(() => {
    awake = true;
  });
  await vi.advanceTimersByTimeAsync(999);
  expect(awake).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await slept;
  expect(remove).toHaveBeenCalledTimes(1);
  expect(vi.getTimerCount()).toBe(0);
});

test('sleep ends with the reason of the signal, before and during', async () => {
  vi.useFakeTimers();
  expect(await caught(sleep(1_000, AbortSignal.abort('before')))).toBe('before');
  const controller = new AbortController();
  const slept = caught(sleep(1_000, controller.signal));
  controller.abort('during');
  expect(await slept).toBe('during');
  expect(vi.getTimerCount()).toBe(0);
});

test('a sleep longer than timers can hold does not end at once', async () => {
  vi.useFakeTimers();
  let awake = false;
  void sleep(Number.MAX_SAFE_INTEGER, undefined).then(() => {
    awake = true;
  });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(awake).toBe(false);
  await vi.advanceTimersByTimeAsync(MAX_TIMER_MS);
  expect(awake).toBe(true);
});

test('a listener that throws or rejects changes nothing', async () => {
  const heard: unknown[] = [];
  notify((value) => heard.push(value), 1);
  notify(undefined, 2);
  notify(() => {
    throw new Error('mine');
  }, 3);
  notify(() => Promise.reject(new Error('mine')), 4);
  await new Promise((resolve) => setImmediate(resolve));
  expect(heard).toEqual([1]);
});

test.each([
  ['abc', true, true, false],
  ['a b', true, false, false],
  ['ü', true, false, false],
  ['😀', true, false, false],
  ['', true, false, false],
  ['\ud800', false, false, false],
  ['a\udc00b', false, false, false],
  ['a\n', true, false, true],
  ['\u009f', true, false, true],
])('%j: well formed %s, visible ASCII %s, control characters %s', (text, ...expected) => {
  expect([isWellFormed(text), isVisibleAscii(text), hasControlCharacters(text)]).toEqual(expected);
});
