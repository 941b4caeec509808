import type { SeededRandom } from '../../../support/seeded-random.ts';
import type { SimServer } from './server.ts';

/** How many of the writes are visible only later, by up to a minute. */
const LATE = 0.3;

/** Advances the clock, and with a probability of `rate` changes, adds or, with `deletes`, deletes a record. */
export function churn(server: SimServer, random: SeededRandom, rate: number, deletes = true): void {
  server.advance(random.int(0, 3_000));
  if (!random.chance(rate)) return;

  const delayMs = random.chance(LATE) ? random.int(1, 60) * 1000 : 0;
  const { ids } = server;
  const kind = ids.length === 0 ? 0 : random.next();
  if (kind < 0.25) server.insert(delayMs);
  else if (kind < 0.65 && deletes) server.delete(random.pick(ids));
  else server.update(random.pick(ids), delayMs);
}
