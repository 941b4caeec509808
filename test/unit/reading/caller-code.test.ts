import { expect, onTestFinished, test, vi } from 'vitest';
import { CallerCode } from '../../../src/reading/caller-code.ts';
import { CallStopped } from '../../../src/transport/call-options.ts';
import { caught } from '../../support/caught.ts';

const takes = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

test('what takes long is reported after 3 s and named after 10 s, unless it has said itself that it waits', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const [waits, warn] = [vi.fn(), vi.fn()];
  const code = new CallerCode({ signal: undefined, waits, warn });
  const said = () => [waits.mock.calls.length, warn.mock.calls.flat()];
  const run = async (name: string, ms: number, kind?: 'question') => {
    const running = code.run(name, () => takes(ms), kind);
    await vi.advanceTimersByTimeAsync(ms);
    await running;
  };
  const reporting = code.run('target.onBatch', () => {
    code.reported();
    return takes(20_000);
  });
  await vi.advanceTimersByTimeAsync(20_000);
  await reporting;
  await run('store.get', 2_999);
  await run('confirm', 20_000, 'question');
  expect(said()).toEqual([0, []]);
  await run('store.get', 9_999);
  expect(said()).toEqual([1, []]);
  await run('store.set', 10_001);
  expect(said()).toEqual([2, ['Waiting for store.set, which has not ended for 10 s.']]);
});

test.each([Symbol.iterator, Symbol.asyncIterator])(
  'an abort ends the read of values, and closes what returns them by %o',
  async (method) => {
    const controller = new AbortController();
    const [next, close] = [vi.fn(() => ({ done: false, value: 'row' })), vi.fn(() => ({}))];
    const values = { [method]: () => ({ next, return: close }) } as unknown as Iterable<string>;
    const code = new CallerCode({ signal: controller.signal, warn: () => {} });
    const read: string[] = [];
    const all = (async () => {
      for await (const value of code.each('rows', () => values)) {
        read.push(value);
        controller.abort('enough');
        if (read.length > 3) return 'went on';
      }
      return 'ended';
    })();
    expect(await caught(all)).toBe('enough');
    expect([read.length, close.mock.calls.length]).toEqual([1, 1]);
  },
);

test('what is called after the limit of time has its grace, then it is not waited for', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const over = new AbortController();
  over.abort(new CallStopped('stopAfter'));
  const limit = { signal: over.signal, graceMs: 5_000 };
  const code = new CallerCode({ signal: undefined, limit, warn: () => {} });
  const short = code.run('onBatch', () => takes(4_999));
  const long = caught(code.run('onBatch', () => takes(60_000)));
  await vi.advanceTimersByTimeAsync(5_000);
  await short;
  expect(await long).toBeInstanceOf(CallStopped);
});
