import type { ChildProcess } from 'node:child_process';
import type { Sandbox } from 'accounting-data-sdk/testing';
import type { SeededRandom } from './seeded-random.ts';

/**
 * Kills a process with SIGKILL after a random number of requests, at most `mostRequests`, and up to 15 ms later: in a
 * response, in a transaction, in a file. The moment depends on requests because a slow machine must not be killed
 * before it has begun. Returns whether the process was killed; rejects if it ended with an error.
 */
export async function killAtRandom(
  child: ChildProcess,
  { sandbox, random, mostRequests }: { sandbox: Sandbox; random: SeededRandom; mostRequests: number },
): Promise<boolean> {
  let left = random.int(1, mostRequests);
  const delayMs = random.int(0, 15);
  const stop = sandbox.onRequest(() => {
    left -= 1;
    if (left === 0) setTimeout(() => child.kill('SIGKILL'), delayMs);
  });
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.once('close', (...end) => resolve(end));
  });
  stop();
  if (signal === 'SIGKILL') return true;
  if (code !== 0) throw new Error(`The process ended with code ${code}.`);
  return false;
}
