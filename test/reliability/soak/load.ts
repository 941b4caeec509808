/**
 * Two hundred callers at once under faults and mass aborts: only the expected errors, a heap that
 * does not grow, at most 200 sockets in use, none left. `LOAD_ROUNDS` sets how many times ten thousand tasks, SEED
 * another beginning.
 */
import { EXPECTED_ERRORS, runLoad, slopeOf } from './load/load.ts';

const CALLERS = 200;

export async function soakLoad(): Promise<boolean> {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
  const rounds = Number(process.env.LOAD_ROUNDS ?? 20);
  const report = await runLoad({
    seed,
    rounds,
    callers: CALLERS,
    tasksInRound: 10_000,
    timeoutMs: 10_000,
    idleMs: 60_000,
  });
  const { ended, strange, heapMb, sockets } = report;
  const slope = slopeOf(heapMb);
  console.log(`load: seed ${seed}: tasks by their end ${JSON.stringify(ended)}`);
  console.log(
    `  heap after each 10,000 in MB: ${heapMb.map((mb) => mb.toFixed(1)).join(' ')}; slope ${slope.toFixed(3)}`,
  );
  const { opened, mostOpen, mostInUse, givenUp, lingering, left, kept } = sockets;
  console.log(`  sockets: ${opened} opened, at most ${mostInUse} in use and ${mostOpen} open at once;`);
  console.log(`  ${lingering} of ${givenUp} given up stayed open; ${left} left in use, ${kept} left open`);
  for (const what of strange.slice(0, 20)) console.log(`  ${what}`);

  const { done: _done, aborted: _aborted, ...errors } = ended;
  const isExpected = Object.keys(errors).every((code) => EXPECTED_ERRORS.includes(code));
  const areSocketsFew = mostInUse <= CALLERS && lingering + left + kept === 0 && givenUp > 0;
  return isExpected && strange.length === 0 && slope < 1 && areSocketsFew;
}
