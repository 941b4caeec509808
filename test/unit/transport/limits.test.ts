import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Aborted, Failure } from '../../../src/transport/failure.ts';
import { type Limits, withinLimits } from '../../../src/transport/limits.ts';
import { caught } from '../../support/caught.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

const limits = (own: Partial<Limits> = {}): Limits => ({
  signal: undefined,
  timeoutMs: 1_000,
  deadlineAt: 10_000,
  onTimeout: () => 'lost',
  ...own,
});
const never = () => new Promise<never>(() => {});

test('work that ends in time gives its value and leaves no timer', async () => {
  expect(await withinLimits(async () => 'done', limits())).toBe('done');
  expect(vi.getTimerCount()).toBe(0);
});

test('work that fails in time fails with its own error', async () => {
  const error = new Error('its own');
  expect(await caught(withinLimits(() => Promise.reject(error), limits()))).toBe(error);
  expect(vi.getTimerCount()).toBe(0);
});

test.each([
  ['attempt', {}, 1_000],
  ['attempt', { deadlineAt: 1_000 }, 1_000],
  ['deadline', { deadlineAt: 999 }, 999],
  ['attempt', { deadlineAt: Number.POSITIVE_INFINITY }, 1_000],
  ['deadline', { timeoutMs: Number.POSITIVE_INFINITY }, 10_000],
] as const)(
  'work that takes too long ends at the %s, also where it ignores its signal: %j',
  async (limit, own, ms) => {
    let seen: AbortSignal | undefined;
    const ended = caught(
      withinLimits((signal) => {
        seen = signal;
        return never();
      }, limits(own)),
    );
    await vi.advanceTimersByTimeAsync(ms - 1);
    expect(seen?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    const failure = (await ended) as Failure;
    expect(failure).toBeInstanceOf(Failure);
    expect(failure.fault).toBe('lost');
    const option = { attempt: 'timeoutMs', deadline: 'deadlineMs' }[limit];
    expect(failure.toError({ method: 'GET', path: '/x' })).toMatchObject({
      code: 'timeout',
      message: `GET /x got no complete response within ${option}. Try again, or raise ${option}.`,
      limit,
      retryable: true,
    });
    expect(failure.toError({ method: 'POST', path: '/x' }).message).toBe(
      `POST /x got no complete response within ${option}. See outcome for what the service may have done.`,
    );
    expect(seen?.aborted).toBe(true);
  },
);

test('what running out of time means is asked when it happens', async () => {
  let seen = false;
  const ended = caught(withinLimits(never, limits({ onTimeout: () => (seen ? 'cut' : 'lost') })));
  seen = true;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await ended).toMatchObject({ fault: 'cut' });
});

test('a deadline that has passed lets no work begin', async () => {
  const work = vi.fn(never);
  const failure = (await caught(withinLimits(work, limits({ deadlineAt: 0 })))) as Failure;
  expect(failure.fault).toBe('unsent');
  expect(failure.toError({})).toMatchObject({ code: 'timeout', limit: 'deadline' });
  expect(work).not.toHaveBeenCalled();
});

test('a signal that has fired lets no work begin', async () => {
  const work = vi.fn(never);
  const aborted = (await caught(withinLimits(work, limits({ signal: AbortSignal.abort('why') })))) as Aborted;
  expect(aborted).toBeInstanceOf(Aborted);
  expect(aborted.reason).toBe('why');
  expect(work).not.toHaveBeenCalled();
});

test('a signal that fires ends the work with its reason, whatever that is', async () => {
  const controller = new AbortController();
  let seen: AbortSignal | undefined;
  const ended = caught(
    withinLimits(
      (signal) => {
        seen = signal;
        return never();
      },
      limits({ signal: controller.signal }),
    ),
  );
  controller.abort(0);
  expect(((await ended) as Aborted).reason).toBe(0);
  expect(seen?.aborted).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

test('no listener stays on the signal of the caller', async () => {
  const { signal } = new AbortController();
  const add = vi.spyOn(signal, 'addEventListener');
  const remove = vi.spyOn(signal, 'removeEventListener');
  await withinLimits(async () => 1, limits({ signal }));
  expect(add).toHaveBeenCalledTimes(1);
  expect(remove).toHaveBeenCalledWith('abort', add.mock.calls[0]?.[1]);
});

test('the longest limit that a timer can hold is one', async () => {
  const work = withinLimits(
    never,
    limits({ timeoutMs: 2 ** 31 - 1, deadlineAt: Number.POSITIVE_INFINITY }),
  ).catch(() => 'ended');
  await vi.advanceTimersByTimeAsync(2 ** 31 - 1);
  expect(await work).toBe('ended');
});

test('a limit beyond what timers can hold is no limit', async () => {
  const ended = withinLimits(
    async () => 'done',
    limits({ timeoutMs: 2 ** 31, deadlineAt: Number.POSITIVE_INFINITY }),
  );
  expect(vi.getTimerCount()).toBe(0);
  expect(await ended).toBe('done');
});

test('a late failure of work that was given up is no unhandled rejection', async () => {
  const unhandled = vi.fn();
  process.on('unhandledRejection', unhandled);
  let fail: (error: Error) => void = () => {};
  const late = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const ended = caught(withinLimits(() => late, limits()));
  await vi.advanceTimersByTimeAsync(1_000);
  await ended;
  fail(new Error('late'));
  await vi.advanceTimersByTimeAsync(0);
  vi.useRealTimers();
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', unhandled);
  expect(unhandled).not.toHaveBeenCalled();
});
