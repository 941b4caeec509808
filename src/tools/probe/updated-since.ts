import { compareTimes, nothingCompared } from './compared-times.ts';
import { type Finding, known, unknown } from './finding.ts';
import { type FirstPage, isRejection } from './first-pages.ts';
import { rejectedOrUnknown } from './id-filters.ts';
import { instantOf } from './order.ts';
import type { ProbeSession } from './probe-session.ts';
import type { FilterVerdict, UpdatedSinceFindings } from './report.ts';

const TWO_DAYS_MS = 2 * 24 * 60 * 60 * 1000;

/** What is known before the requests about `updatedSince`. */
export interface Known {
  /** Whether bounds on `id` hold together, so that one record can be requested by itself. */
  readonly bounded: boolean;
  /** Whether another collection has shown how far the filter is from UTC. */
  readonly shiftFound: boolean;
}

/** Requests the future, nonsense, and a record's own timestamp: at most 14 requests, three of an ordinary service. */
export async function probeUpdatedSince(
  session: ProbeSession,
  first: FirstPage,
  { bounded, shiftFound }: Known,
): Promise<UpdatedSinceFindings> {
  const verdict = await askFuture(session, first);
  const badValue = await askNonsense(session, first, verdict);
  const row = first.rows.find(
    ({ id, updatedAt }) => typeof id === 'string' && instantOf(updatedAt) !== undefined,
  );
  if (verdict.value !== 'honoured' || !bounded)
    return {
      verdict,
      badValue,
      ...nothingCompared('needs updatedSince and the bounds on id to be honoured'),
    };
  if (row === undefined) return { verdict, badValue, ...nothingCompared('no record shows its updatedAt') };

  const comparison = await compareTimes(session, first.segment, row, shiftFound);
  return { verdict, badValue, ...comparison };
}

/** Nothing can have been modified two days from now. */
async function askFuture(session: ProbeSession, first: FirstPage): Promise<Finding<FilterVerdict>> {
  if (first.rows.length === 0) return unknown('there is no record to leave out');

  const instant = secondsOf(session.clock.now + TWO_DAYS_MS);
  const name = `updatedSince=${instant}, in the future,`;
  const answer = await session.list(first.segment, { updatedSince: instant });
  if (!answer.ok) return rejectedOrUnknown(answer, name);
  if (answer.rows.length === 0) return known('honoured', `${name} returns nothing`);
  return known('ignored', `${name} returns ${answer.rows.length} records`);
}

async function askNonsense(
  session: ProbeSession,
  first: FirstPage,
  verdict: Finding<FilterVerdict>,
): Promise<UpdatedSinceFindings['badValue']> {
  const name = 'updatedSince=not-an-instant';
  const answer = await session.list(first.segment, { updatedSince: 'not-an-instant' });
  if (isRejection(answer)) return known('rejected', `${name} returns ${answer.status}`);
  if (!answer.ok) return unknown(`${name} failed: ${answer.code}`);
  if (verdict.value !== 'honoured') return unknown('updatedSince itself is not known to be honoured');
  if (answer.rows.length === 0) return unknown(`${name} returns nothing`);
  return known('ignored', `${name} is answered as if it were not there`);
}

function secondsOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
