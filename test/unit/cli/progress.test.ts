import { expect, onTestFinished, test, vi } from 'vitest';
import { type CommandIo, commandIo } from '../../../src/cli/io.ts';
import { bar, Progress } from '../../../src/cli/progress.ts';

/** The progress of a command whose log is no terminal, on a clock of the test, and the lines that it prints. */
function logged() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const lines: string[] = [];
  const { signal } = new AbortController();
  const io: CommandIo = commandIo({
    out() {},
    log: (line) => lines.push(line),
    env: {},
    colors: false,
    signal,
  });
  return { lines, progress: new Progress(io) };
}

test('without a terminal, progress is a line after three seconds, then one every ten', () => {
  const { lines, progress } = logged();
  for (let second = 0; second < 30; second += 1) {
    progress.show(`${second} s`);
    vi.advanceTimersByTime(1_000);
  }
  expect(lines).toEqual(['3 s', '13 s', '23 s']);
});

test('without a terminal, a wait is printed at its beginning if a line is due before its end', () => {
  const { lines, progress } = logged();
  progress.show('short', 2_000);
  progress.show('long', 3_000);
  progress.show('another', 9_000);
  expect(lines).toEqual(['long']);
});

test('progress says why a call waits, behind what was done before, and for whom', () => {
  const { lines, progress } = logged();
  const { request, response, retry, wait, end } = progress.listeners(() => '7 records');
  const event = {
    ...{ method: 'GET', origin: 'https://books.example.com', basePath: '', path: '/accounts' },
    ...{ template: '/accounts', query: undefined, attempt: 1 },
  } as const;
  const say = (told: () => unknown) => {
    told();
    vi.advanceTimersByTime(60_000);
  };
  const sent = (call: number) => request?.({ ...event, call, idempotencyKey: undefined });
  say(() => sent(1));
  say(() => [sent(2), response?.({ ...event, call: 2 } as never)]);
  say(() => [sent(3), end?.({ ...event, call: 3 } as never)]);
  say(() => wait?.({ ...event, call: 4, waitMs: 29_001 }));
  say(() => wait?.({ ...event, call: 4, waitMs: undefined }));
  for (const reason of ['unsent', 'lost', 'status 503'] as const)
    say(() => [sent(5), retry?.({ ...event, call: 5, reason, waitMs: 1_500 })]);
  expect(lines).toEqual(
    [
      'waiting for a response from books.example.com',
      'waiting 30 s for the quota of the key',
      'waiting for the quota of the key',
      'books.example.com cannot be reached; retrying in 2 s',
      'books.example.com did not respond; retrying in 2 s',
      'books.example.com returned status 503; retrying in 2 s',
    ].map((line) => `7 records; ${line}`),
  );
});

test('a bar is full at the end alone, and never longer', () => {
  const bars = [bar(0, 3), bar(299, 300), bar(3, 3), bar(5, 3), bar(0, 0)];
  expect(bars.map((text) => text.split('=').length - 1)).toEqual([0, 9, 10, 10, 10]);
  expect(new Set(bars.map((text) => text.length))).toEqual(new Set([12]));
});
