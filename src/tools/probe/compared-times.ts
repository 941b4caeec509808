import { idsOf, type Row } from '../list-body.ts';
import { known, unknown } from './finding.ts';
import type { ProbeSession } from './probe-session.ts';
import type { UpdatedSinceFindings } from './report.ts';

/** What the bound of `updatedSince` is compared with. */
export type Comparison = Pick<UpdatedSinceFindings, 'inclusive' | 'compares' | 'shiftMinutes'>;

const SECOND_MS = 1000;
/** Offsets of time zones are multiples of a quarter of an hour, and at most 14 hours. */
const QUARTER_MS = 15 * 60 * SECOND_MS;
/** From -12 to +14 hours. */
const MAX_QUARTERS = 26 * 4;

/**
 * Requests one record by its id, with `updatedSince` at and around its own `updatedAt`. A service that ignores the
 * offset of the bound, or that compares local times with it, finds the record at other times.
 */
export async function compareTimes(
  session: ProbeSession,
  segment: string,
  row: Row,
  shiftFound: boolean,
): Promise<Comparison> {
  const one = new RecordSince(session, segment, row);
  try {
    return one.offsetMinutes === 0
      ? await compareInUtc(one, shiftFound)
      : await compareWithOffset(one, one.offsetMinutes);
  } catch (error) {
    if (error instanceof Undecided) return nothingCompared(error.message);
    throw error;
  }
}

export function nothingCompared(reason: string): Comparison {
  const nothing = unknown(reason);
  return { inclusive: nothing, compares: nothing, shiftMinutes: nothing };
}

/** Records show times in UTC: the filter should compare them as they are shown. */
async function compareInUtc(one: RecordSince, shiftFound: boolean): Promise<Comparison> {
  if (await one.isFound(0)) {
    const inclusive = known(
      true,
      `record ${one.id} is found by updatedSince=${one.shown}, its own updatedAt`,
    );
    return (await one.isFound(SECOND_MS))
      ? { inclusive, ...(await shiftOf(one, 1, shiftFound)) }
      : { inclusive, ...noShift(one) };
  }
  if (await one.isFound(-SECOND_MS)) {
    const inclusive = known(
      false,
      `record ${one.id} is not found by its own updatedAt, but a second earlier`,
    );
    return { inclusive, ...noShift(one) };
  }
  if (await one.isFound(-MAX_QUARTERS * QUARTER_MS)) {
    const inclusive = unknown('the filter compares other times than records show');
    return { inclusive, ...(await shiftOf(one, -1, shiftFound)) };
  }
  return nothingCompared(`record ${one.id} is not found even 26 hours before its own updatedAt`);
}

function noShift({ id, shown }: RecordSince): Omit<Comparison, 'inclusive'> {
  const evidence = `record ${id} of ${shown} is found up to that second`;
  return { compares: known('instant', evidence), shiftMinutes: known(0, evidence) };
}

/** How far the filter is off, by bisection: at most seven requests. */
async function shiftOf(
  one: RecordSince,
  sign: 1 | -1,
  shiftFound: boolean,
): Promise<Omit<Comparison, 'inclusive'>> {
  const far = sign === 1 ? 'after' : 'before';
  const compares = known(
    'local' as const,
    `record ${one.id} is found by times ${far} its own updatedAt, ${one.shown}`,
  );
  if (shiftFound) return { compares, shiftMinutes: unknown('measured in another collection') };

  // Of the times that find the record the latest one, in quarters of an hour.
  let found = sign === 1 ? 0 : -MAX_QUARTERS;
  let missing = sign === 1 ? MAX_QUARTERS + 1 : 0;
  while (missing - found > 1) {
    const middle = Math.floor((found + missing) / 2);
    if (await one.isFound(middle * QUARTER_MS - SECOND_MS)) found = middle;
    else missing = middle;
  }
  // A filter on another field than updatedAt is off by any amount, a time zone by quarters of an hour.
  if (await one.isFound(found * QUARTER_MS + SECOND_MS))
    return nothingCompared(
      `record ${one.id} is found up to a time that is not a time zone away from ${one.shown}`,
    );
  const minutes = found * 15;
  return {
    compares,
    shiftMinutes: known(minutes, `record ${one.id} is found up to ${minutes} minutes from ${one.shown}`),
  };
}

/** Records show an offset: written in it, the bound finds the record either way. */
async function compareWithOffset(one: RecordSince, offsetMinutes: number): Promise<Comparison> {
  const isFound = await one.isFound(0, 'shown');
  if (!isFound && !(await one.isFound(-SECOND_MS, 'shown')))
    return nothingCompared(`record ${one.id} is not found by its own updatedAt, ${one.shown}`);

  // West of UTC the digits of the bound in UTC are later than those of the record, east of it earlier.
  const isLocal = offsetMinutes < 0 ? !(await one.isFound(-SECOND_MS)) : await one.isFound(SECOND_MS);
  const evidence = `record ${one.id} of ${one.shown}, requested with the same moment in UTC`;
  return {
    inclusive: known(isFound, `record ${one.id}, requested with its own updatedAt, ${one.shown}`),
    compares: known(isLocal ? 'local' : 'instant', evidence),
    shiftMinutes: known(isLocal ? offsetMinutes : 0, evidence),
  };
}

/** A response that says nothing of the record. */
class Undecided extends Error {}

/** One record, requested by its id and `updatedSince`. */
class RecordSince {
  readonly id: string;
  readonly shown: string;
  readonly offsetMinutes: number;
  readonly #session: ProbeSession;
  readonly #segment: string;

  constructor(session: ProbeSession, segment: string, row: Row) {
    this.#session = session;
    this.#segment = segment;
    this.id = String(row.id);
    this.shown = String(row.updatedAt);
    const [, sign, hours, minutes] = /([+-])(\d{2}):?(\d{2})$/.exec(this.shown) ?? [];
    this.offsetMinutes = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * (sign === '-' ? -1 : 1);
  }

  /** Whether the record is found by its own time and so many ms, written in UTC or in the offset that it shows. */
  async isFound(ms: number, how: 'utc' | 'shown' = 'utc'): Promise<boolean> {
    const { id } = this;
    const updatedSince = this.#time(ms, how);
    const answer = await this.#session.list(this.#segment, { updatedSince, 'id[gte]': id, 'id[lte]': id });
    const name = `record ${id} with updatedSince=${updatedSince}`;
    if (!answer.ok) throw new Undecided(`requesting ${name} failed: ${answer.code}`);

    const ids = idsOf(answer.rows);
    if (ids.some((other) => other !== id)) throw new Undecided(`requesting ${name} returns others`);
    return ids.length > 0;
  }

  #time(ms: number, how: 'utc' | 'shown'): string {
    const offset = how === 'shown' ? this.offsetMinutes : 0;
    const local = new Date(Date.parse(this.shown) + ms + offset * 60_000).toISOString();
    // With a fraction only if the record has one: without it, it was understood before.
    const text = this.shown.includes('.') ? local.slice(0, -1) : local.slice(0, 19);
    return offset === 0 ? `${text}Z` : `${text}${/[+-]\d{2}:?\d{2}$/.exec(this.shown)?.[0]}`;
  }
}
