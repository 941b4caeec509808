import { memoryStore, type Store } from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { numbered, setUpPush } from '../../support/push.ts';
import { runUntilSettled, useVirtualClock } from '../../support/virtual-clock.ts';
import { loggerOfWarnings } from '../../support/warnings.ts';

useVirtualClock();

const ROWS = numbered(3);

/** A push of which one function of the caller never settles from its nth call on, aborted 10 ms after that. */
async function stuckAt(name: string, nth: number) {
  const { logger, warnings } = loggerOfWarnings();
  const controller = new AbortController();
  let isFirst = true;
  let calls = 0;
  let stoppedAt = 0;
  const orNever = <V>(method: string, work: () => V): V | Promise<never> => {
    if (isFirst || method !== name || ++calls < nth) return work();
    if (stoppedAt === 0) setTimeout(() => controller.abort('enough'), 10);
    stoppedAt ||= Date.now();
    return new Promise<never>(() => undefined);
  };
  const key = (): string => setUp.sandbox.keys.full;
  const setUp = setUpPush([], { client: { logger, apiKey: () => orNever('apiKey', key) } });
  const { client } = setUp;
  const store = memoryStore();
  // So that there is a mark to delete.
  await setUp.run(ROWS.slice(0, 1), { store });
  isFirst = false;
  const inner: Store = {
    get: (key) => orNever('get', () => store.get(key)),
    set: (key, value) => orNever('set', () => store.set(key, value)),
    delete: (key) => orNever('delete', () => store.delete(key)),
    lock: (key) =>
      orNever('lock', () => {
        const unlock = store.lock(key) as (() => unknown) | undefined;
        return unlock && (() => orNever('unlock', unlock));
      }),
  };
  const rows = async function* () {
    yield* ROWS.slice(0, 2);
    await orNever('rows', () => undefined);
    yield* ROWS.slice(2);
  };
  const confirm = () => orNever('confirm', () => true);
  const { signal } = controller;
  const end = await setUp.run(rows(), { store: inner, confirm, signal }).then(
    ({ done }) => done,
    (error: unknown) => error,
  );
  return { ...setUp, client, store, end, tookMs: Date.now() - stoppedAt, stoppedAt, warnings };
}

describe('an abort ends the wait for what never settles', () => {
  test.each<readonly [string, number]>([
    ['confirm', 1],
    ['rows', 1],
    ['lock', 1],
    ['delete', 1],
    ['unlock', 1],
    ['apiKey', 1],
    ['apiKey', 3],
    ...[1, 2, 4, 7].map((nth) => ['get', nth] as const),
    ...[1, 2, 3, 4].map((nth) => ['set', nth] as const),
  ])('%s, at call %d, and a push after it does the rest', async (name, nth) => {
    const { run, store, end, tookMs, stoppedAt, warnings, sandbox } = await stuckAt(name, nth);
    // All was written before it was unlocked.
    expect(end).toEqual(name === 'unlock' ? ['P-0 unchanged', 'P-1 created', 'P-2 created'] : 'enough');
    expect(stoppedAt).toBeGreaterThan(0);
    expect(tookMs).toBeLessThan(2_600);
    const named = ['get', 'set', 'delete', 'lock'].includes(name) ? `store.${name}` : name;
    if (!['rows', 'apiKey'].includes(name)) expect(warnings[0]).toContain(`${named} has not ended`);
    expect(warnings.length).toBeLessThan(2);
    if (name === 'apiKey') return;
    if (name !== 'unlock') await run(ROWS, { store });
    else expect(await caught(run(ROWS, { store }))).toMatchObject({ code: 'concurrent_run' });
    if (name !== 'unlock') expect(sandbox.store.products.all()).toHaveLength(3);
  });

  test('a lock that is taken after the push has given up on it is released', async () => {
    const { run } = setUpPush();
    const controller = new AbortController();
    const inner = memoryStore();
    const lock: Store['lock'] = async (key) => {
      controller.abort('enough');
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      return inner.lock(key);
    };
    const { signal } = controller;
    expect(await caught(run(ROWS, { store: { ...inner, lock }, signal }))).toBe('enough');
    await runUntilSettled(new Promise((resolve) => setTimeout(resolve, 6_000)));
    const { done } = await run(ROWS, { store: inner });
    expect(done).toHaveLength(3);
  });
});

test('a push ends if the apiKey function never returns', async () => {
  const { sandbox, run } = setUpPush([], { client: { apiKey: () => new Promise<never>(() => undefined) } });
  const startedAt = Date.now();
  const error = await caught(run(ROWS, { store: memoryStore(), timeoutMs: 1_000 }));
  expect(error).toMatchObject({ code: 'push_failed', cause: { code: 'timeout' } });
  expect(`${error}`).toContain('the function given as apiKey returned no key');
  // Once before anything is read, and once for the first call.
  expect(Date.now() - startedAt).toBe(2_000);
  expect(sandbox.count()).toBe(0);
});

test('a push goes on with the next key if the apiKey function does not return once', async () => {
  let calls = 0;
  const apiKey = (): Promise<string> =>
    ++calls === 1 ? new Promise<never>(() => undefined) : Promise.resolve(key());
  const setUp = setUpPush([], { client: { apiKey } });
  const key = () => setUp.sandbox.keys.full;
  expect((await setUp.run(ROWS, { store: memoryStore() })).done).toHaveLength(3);
});

test('a question that takes minutes is neither reported as a wait nor warned of, a store that takes 12 s is', async () => {
  const { logger, warnings } = loggerOfWarnings();
  const { run } = setUpPush([], { client: { logger } });
  const waits: string[] = [];
  const later = async (ms: number) => void (await new Promise((resolve) => setTimeout(resolve, ms)));
  const confirm = async () => {
    await later(120_000);
    return true;
  };
  const onProgress = ({ phase, waiting }: { phase: string; waiting: boolean }) => {
    if (waiting) waits.push(phase);
  };
  await run(ROWS, { confirm, onProgress, store: new Map() });
  expect([warnings, waits]).toEqual([[], []]);

  const entries = new Map<string, string>();
  let calls = 0;
  const get = async (key: string) => {
    if (++calls === 1) await later(12_000);
    return entries.get(key);
  };
  await run(ROWS, { onProgress, store: { get, set: (key, value) => entries.set(key, value) } });
  expect(warnings).toEqual([expect.stringContaining('Waiting for store.get, which has not ended for 10 s')]);
  expect(waits.length).toBeGreaterThan(0);
});

test('a callback of a push that throws is warned about, and stops nothing', async () => {
  const { logger, warnings } = loggerOfWarnings();
  const { run } = setUpPush([], { client: { logger } });
  const onProgress = () => {
    throw new Error('no screen');
  };
  const { report } = await run(ROWS, { onProgress });
  expect(report.counts.created).toBe(3);
  expect(warnings).toContainEqual(expect.stringContaining('onProgress'));
  expect(warnings).toContainEqual(expect.stringContaining('no screen'));
});
