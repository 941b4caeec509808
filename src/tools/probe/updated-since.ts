import { idsOf } from '../list-body.ts';
import { type Finding, known, unknown } from './finding.ts';
import { type FirstPage, isRefusal } from './first-pages.ts';
import { refusedOrUnknown } from './id-filters.ts';
import type { Interview } from './interview.ts';
import { instantOf } from './order.ts';
import type { FilterVerdict, UpdatedSinceFindings } from './report.ts';

const TWO_DAYS_MS = 2 * 24 * 60 * 60 * 1000;

/** Asks about `updatedSince` in two or three requests: the future, nonsense, and a record's own instant. */
export async function probeUpdatedSince(
  interview: Interview,
  first: FirstPage,
  bounded: boolean,
): Promise<UpdatedSinceFindings> {
  const verdict = await askFuture(interview, first);
  const badValue = await askNonsense(interview, first, verdict);
  const inclusive =
    verdict.value === 'honoured' && bounded
      ? await askAtBound(interview, first)
      : unknown('needs updatedSince and the bounds on id to be honoured');
  return { verdict, inclusive, badValue };
}

/** Nothing can have been modified two days from now. */
async function askFuture(interview: Interview, first: FirstPage): Promise<Finding<FilterVerdict>> {
  if (first.rows.length === 0) return unknown('there is no record to leave out');

  const instant = secondsOf(interview.clock.now + TWO_DAYS_MS);
  const name = `updatedSince=${instant}, in the future,`;
  const answer = await interview.list(first.segment, { updatedSince: instant });
  if (!answer.ok) return refusedOrUnknown(answer, name);
  if (answer.rows.length === 0) return known('honoured', `${name} is answered with nothing`);
  return known('ignored', `${name} is answered with ${answer.rows.length} records`);
}

async function askNonsense(
  interview: Interview,
  first: FirstPage,
  verdict: Finding<FilterVerdict>,
): Promise<UpdatedSinceFindings['badValue']> {
  const name = 'updatedSince=not-an-instant';
  const answer = await interview.list(first.segment, { updatedSince: 'not-an-instant' });
  if (isRefusal(answer)) return known('refused', `${name} is answered with ${answer.status}`);
  if (!answer.ok) return unknown(`${name} failed: ${answer.code}`);
  if (verdict.value !== 'honoured') return unknown('updatedSince itself is not known to be honoured');
  if (answer.rows.length === 0) return unknown(`${name} is answered with nothing`);
  return known('ignored', `${name} is answered as if it were not there`);
}

/** One record, found by its id, and `updatedSince` at its own `updatedAt`. */
async function askAtBound(interview: Interview, first: FirstPage): Promise<Finding<boolean>> {
  const row = first.rows.find(
    ({ id, updatedAt }) => typeof id === 'string' && instantOf(updatedAt) !== undefined,
  );
  if (row === undefined) return unknown('no record shows its updatedAt');

  const id = String(row.id);
  const shown = String(row.updatedAt);
  // In the form of the question before, which was understood; with a fraction only where the record has one.
  const instant = shown.includes('.')
    ? new Date(Date.parse(shown)).toISOString()
    : secondsOf(Date.parse(shown));
  const answer = await interview.list(first.segment, { updatedSince: instant, 'id[gte]': id, 'id[lte]': id });
  if (!answer.ok) return unknown(`asking for record ${id} since its own updatedAt failed: ${answer.code}`);

  const ids = idsOf(answer.rows);
  if (ids.length === 1 && ids[0] === id)
    return known(true, `record ${id} is in the answer to its own updatedAt`);
  return ids.length === 0
    ? known(false, `record ${id} is missing from the answer to its own updatedAt`)
    : unknown(`asking for record ${id} since its own updatedAt is answered with others`);
}

function secondsOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
