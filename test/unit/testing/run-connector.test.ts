import type { Fault } from 'accounting-data-sdk/testing';
import { beforeEach, expect, test, vi } from 'vitest';
import { runConnector } from '../../../src/testing/connector/run-connector.ts';

beforeEach(() => {
  vi.useFakeTimers();
  return () => void vi.useRealTimers();
});

const HOUR_MS = 3_600_000;
const KILLED = ['killed', 'connection-refused', 'accept'];

/** A run that takes so long if it is killed, and never ends otherwise. */
const runFor = (afterKillMs: number) => (signal: AbortSignal) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => setTimeout(() => reject(signal.reason), afterKillMs));
  });

/** How a run ends that is killed after so many ms, and whether the service refused connections after each step. */
async function endingOf(
  start: (signal: AbortSignal) => unknown,
  { timeoutMs = Number.POSITIVE_INFINITY, killAfterMs = 60_000 } = {},
): Promise<unknown[]> {
  const refusals: string[] = [];
  const kill = new AbortController();
  setTimeout(() => kill.abort(), killAfterMs);
  const add = (fault: Fault) => {
    refusals.push(fault.kind);
    return { fault, hits: 0, active: true, remove: () => void refusals.push('accept') };
  };
  const ending = runConnector(start, { timeoutMs, kill: kill.signal, faults: { add } });
  await vi.advanceTimersByTimeAsync(HOUR_MS);
  const { how, problems } = await ending;
  return [how, ...refusals, ...problems];
}

test('a run that resolves or rejects ends well or loudly, and connections are not refused', async () => {
  expect(await endingOf(async () => 1)).toEqual(['well']);
  expect(await endingOf(async () => Promise.reject(new Error('broken')))).toEqual(['loudly']);
  expect(
    await endingOf(() => {
      throw new Error('broken');
    }),
  ).toEqual(['loudly']);
});

test('a run that is killed has 10 s to settle, in which connections are refused', async () => {
  expect(await endingOf(runFor(9_999))).toEqual(KILLED);
  expect(await endingOf(runFor(10_001))).toEqual([
    ...KILLED,
    expect.stringMatching('had not settled 10 s later'),
  ]);
});

test('a run that takes longer than timeoutMs is killed, and Infinity is no limit', async () => {
  expect(await endingOf(runFor(0), { timeoutMs: 30_000 })).toEqual([
    ...KILLED,
    'The run had not ended after timeoutMs (30000 ms).',
  ]);
  expect(await endingOf(runFor(10_001), { timeoutMs: 30_000 })).toEqual([
    ...KILLED,
    'The run had not ended after timeoutMs (30000 ms).',
    expect.stringMatching('had not settled 10 s later'),
  ]);
  expect(await endingOf(runFor(0), { killAfterMs: HOUR_MS - 1 })).toEqual(KILLED);
});
