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

const NOT_SETTLED = expect.stringMatching('had not settled 10 s later');
const TOO_LONG = 'The run had not ended after timeoutMs (30000 ms).';

test.each<[what: string, start: (signal: AbortSignal) => unknown, options: object, ending: unknown[]]>([
  ['resolves ends well', async () => 1, {}, ['well']],
  ['rejects ends loudly', () => Promise.reject(new Error('broken')), {}, ['loudly']],
  ['is killed has 10 s to settle, in which new connections are rejected', runFor(9_999), {}, KILLED],
  ['settles later has a problem', runFor(10_001), {}, [...KILLED, NOT_SETTLED]],
  ['takes longer than timeoutMs is killed', runFor(0), { timeoutMs: 30_000 }, [...KILLED, TOO_LONG]],
])('a run that %s', async (_, start, options, ending) => {
  expect(await endingOf(start, options)).toEqual(ending);
});
