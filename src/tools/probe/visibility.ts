import { sleep } from '../../internal/sleep.ts';
import { type Finding, known, unknown } from './finding.ts';
import type { ProbeSession } from './probe-session.ts';

/** Looks for a new record after these pauses, in ms: fifteen seconds in all. */
const PAUSES_MS = [0, 250, 500, 1000, 2000, 4000, 8000];

/** How long after its create a record can be read. */
export async function waitUntilVisible(
  session: ProbeSession,
  path: readonly string[],
  signal: AbortSignal | undefined,
): Promise<Finding<number>> {
  const since = Date.now();
  let looks = 0;
  for (const pauseMs of PAUSES_MS) {
    if (pauseMs > 0) await sleep(pauseMs, signal);
    const answer = await session.ask({ path });
    looks += 1;
    const passedMs = Date.now() - since;
    if (answer.ok) {
      return looks === 1
        ? known(0, 'a new record could be read at once')
        : known(passedMs, `a new record could be read after ${passedMs} ms, with look ${looks}`);
    }
    if (answer.status !== 404) return unknown(`reading the new record failed: ${answer.error.code}`);
  }
  return unknown(`a new record could not be read within ${Date.now() - since} ms`);
}
