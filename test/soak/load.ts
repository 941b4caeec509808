/**
 * Two hundred callers at once under faults and storms of aborts: the errors that are due and no others, a heap that
 * does not grow, at most 200 sockets, none left. `LOAD_ROUNDS` sets how many times ten thousand errands, SEED another
 * beginning.
 */
import { EXPECTED_ERRORS, runLoad, slopeOf } from '../load/load.ts';

export async function soakLoad(): Promise<boolean> {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
  const rounds = Number(process.env.LOAD_ROUNDS ?? 20);
  const report = await runLoad({
    seed,
    rounds,
    callers: 200,
    errandsInRound: 10_000,
    timeoutMs: 10_000,
  });
  const { ended, strange, heapMb, sockets } = report;
  const slope = slopeOf(heapMb);
  console.log(`load: seed ${seed}: errands by their end ${JSON.stringify(ended)}`);
  console.log(
    `  heap after each 10,000 in MB: ${heapMb.map((mb) => mb.toFixed(1)).join(' ')}; slope ${slope.toFixed(3)}`,
  );
  console.log(`  sockets: ${sockets.opened} opened, at most ${sockets.most} at once, ${sockets.left} left`);
  for (const what of strange.slice(0, 20)) console.log(`  ${what}`);

  const { done: _done, aborted: _aborted, ...errors } = ended;
  const isExpected = Object.keys(errors).every((code) => EXPECTED_ERRORS.includes(code));
  return isExpected && strange.length === 0 && slope < 1 && sockets.most <= 200 && sockets.left === 0;
}

if (process.argv[1] === import.meta.filename && !(await soakLoad())) process.exitCode = 1;
