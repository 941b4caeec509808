import { expect, test, vi } from 'vitest';
import { play } from '../../../src/testing/connector/play.ts';
import type { ConnectorRun } from '../../../src/testing/connector/run-connector.ts';
import { Stage } from '../../../src/testing/connector/stage.ts';
import { SeededRandom } from '../../../src/testing/data/seeded-random.ts';

/** What is wrong with a connector that is killed, and sends a request so many ms after its run has settled. */
async function problemsOf(afterMs: number): Promise<readonly string[]> {
  const stage = new Stage({ records: { accounts: 5 } }, ['accounts'], new SeededRandom(1));
  let runs = 0;
  const run = async ({ baseUrl, apiKey, signal }: ConnectorRun) => {
    runs += 1;
    if (runs > 1) return;
    const headers = { 'X-AUTH-TOKEN': apiKey };
    const get = () => stage.sandbox.fetch(`${baseUrl}/api/public/v1/accounts`, { headers });
    while (!signal.aborted) await get().catch(() => undefined);
    setTimeout(get, afterMs);
    throw signal.reason;
  };
  const half = { rows: [], run, judge: async () => [] };
  const nights = [{ runs: 'killed' as const }];
  const problems = play(
    { name: '', why: '', advice: '', nights },
    { stage, half, timeoutMs: Number.POSITIVE_INFINITY },
  );
  await vi.advanceTimersByTimeAsync(1_000);
  return problems;
}

test('a connector must not send a request within 50 ms after it was killed and has settled', async () => {
  vi.useFakeTimers();
  expect(await problemsOf(49)).toEqual(['The run sent requests after it had been killed and had settled.']);
  expect(await problemsOf(51)).toEqual([]);
  vi.useRealTimers();
});
