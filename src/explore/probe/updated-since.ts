import { idsOf, type Row } from '../rows.ts';
import { allUnknown, known, unknown } from './finding.ts';
import { rejectedOrUnknown } from './id-bounds.ts';
import type { FirstPage } from './pages.ts';
import { momentOf } from './records.ts';
import type { FilterVerdict, Finding, UpdatedSinceFindings } from './report.ts';
import { isRejection, type ListResponse, type ProbeSession } from './session.ts';

const SECOND_MS = 1000;
const TWO_DAYS_MS = 2 * 24 * 60 * 60 * SECOND_MS;
/** Offsets of time zones are multiples of 15 minutes. */
const QUARTER_MS = 15 * 60 * SECOND_MS;
const NOT_HONOURED = 'updatedSince itself is not known to be honoured';
/** 26 hours: zones reach from -12 to +14 hours. */
const MAX_QUARTERS = 26 * 4;

/** The future, again in UTC if its offset is rejected, an invalid value, and a record's own timestamp. */
export const UPDATED_SINCE_REQUESTS = 6;

/** Of a filter that compares local times. */
export const SHIFT_REQUESTS = 8;

type Comparison = Pick<UpdatedSinceFindings, 'compares' | 'shiftMinutes'>;

export async function probeUpdatedSince(
  session: ProbeSession,
  first: FirstPage,
  { boundsHold, isShiftKnown }: { boundsHold: boolean; isShiftKnown: boolean },
): Promise<UpdatedSinceFindings> {
  const { verdict, offset } = await probeFuture(session, first);
  const invalidValue = await probeInvalidValue(session, first, verdict);
  const row = first.rows.find(
    ({ id, updatedAt }) => typeof id === 'string' && momentOf(updatedAt) !== undefined,
  );
  const compare = () => {
    if (verdict.value !== 'honoured' || !boundsHold)
      return nothingCompared('needs updatedSince and the bounds on id to be honoured');
    return row === undefined
      ? nothingCompared('no record shows its updatedAt')
      : compareTimes(new RecordSince(session, first.segment, row), isShiftKnown);
  };
  return { verdict, offset, invalidValue, ...(await compare()) };
}

/** Nothing can have changed two days from now, in no time zone. A rejected offset is no rejected filter. */
async function probeFuture(
  session: ProbeSession,
  first: FirstPage,
): Promise<Pick<UpdatedSinceFindings, 'verdict' | 'offset'>> {
  if (first.rows.length === 0) return allUnknown('there is no record to leave out', ['verdict', 'offset']);

  const future = new Date(session.now + TWO_DAYS_MS).toISOString().slice(0, 19);
  const inOffset = await requestFuture(session, first, `${future}-12:00`);
  if (!isRejection(inOffset.response)) {
    const { verdict, name } = inOffset;
    const isAccepted = verdict.value === 'honoured';
    const offset = isAccepted ? known('accepted' as const, `${name} returns nothing`) : unknown(NOT_HONOURED);
    return { verdict, offset };
  }
  const { verdict } = await requestFuture(session, first, `${future}Z`);
  if (verdict.value !== 'honoured') return { verdict, offset: unknown(NOT_HONOURED) };
  const evidence = `${inOffset.name} returns ${inOffset.response.status}, and the same time in UTC nothing`;
  return { verdict, offset: known('rejected', evidence) };
}

async function requestFuture(session: ProbeSession, first: FirstPage, updatedSince: string) {
  const name = `updatedSince=${updatedSince}, in the future,`;
  const response = await session.list(first.segment, { updatedSince });
  return { name, response, verdict: verdictOf(response, name) };
}

function verdictOf(response: ListResponse, name: string): Finding<FilterVerdict> {
  if (!response.ok) return rejectedOrUnknown(response, name);
  return response.rows.length === 0
    ? known('honoured', `${name} returns nothing`)
    : known('ignored', `${name} returns ${response.rows.length} records`);
}

async function probeInvalidValue(
  session: ProbeSession,
  first: FirstPage,
  verdict: Finding<FilterVerdict>,
): Promise<UpdatedSinceFindings['invalidValue']> {
  const name = 'updatedSince=not-a-timestamp';
  const response = await session.list(first.segment, { updatedSince: 'not-a-timestamp' });
  if (isRejection(response)) return known('rejected', `${name} returns ${response.status}`);
  if (!response.ok) return unknown(`${name} failed: ${response.code}`);
  if (verdict.value !== 'honoured') return unknown('whether updatedSince itself is honoured is unknown');
  return response.rows.length === 0
    ? unknown(`${name} returns nothing`)
    : known('ignored', `${name} returns records as if there were no filter`);
}

function nothingCompared(reason: string): Comparison {
  return allUnknown(reason, ['compares', 'shiftMinutes']);
}

/**
 * Requests one record by its id, with `updatedSince` at and around its own `updatedAt`. A service that ignores the
 * offset of the bound, or compares it with local times, finds the record at other times.
 */
async function compareTimes(record: RecordSince, isShiftKnown: boolean): Promise<Comparison> {
  try {
    return record.offsetMinutes === 0
      ? await compareInUtc(record, isShiftKnown)
      : await compareWithOffset(record, record.offsetMinutes);
  } catch (error) {
    if (error instanceof Undecided) return nothingCompared(error.message);
    throw error;
  }
}

/** The record shows its time in UTC, so the filter should compare it in UTC. */
async function compareInUtc(record: RecordSince, isShiftKnown: boolean): Promise<Comparison> {
  const { id, shown } = record;
  const evidence = `record ${id} of ${shown} is found up to that second`;
  const noShift = { compares: known('utc' as const, evidence), shiftMinutes: known(0, evidence) };
  if (await record.isFound(SECOND_MS)) return shiftOf(record, 1, isShiftKnown);
  // A filter may leave out its own second.
  if ((await record.isFound(0)) || (await record.isFound(-SECOND_MS))) return noShift;
  if (await record.isFound(-MAX_QUARTERS * QUARTER_MS)) return shiftOf(record, -1, isShiftKnown);
  return nothingCompared(`record ${id} is not found even 26 hours before its own updatedAt`);
}

/** How far the filter is shifted, by bisection. */
async function shiftOf(record: RecordSince, sign: 1 | -1, isShiftKnown: boolean): Promise<Comparison> {
  const { id, shown } = record;
  const side = sign === 1 ? 'after' : 'before';
  const compares = known(
    'local' as const,
    `record ${id} is found by times ${side} its own updatedAt, ${shown}`,
  );
  if (isShiftKnown) return { compares, shiftMinutes: unknown('measured in another collection') };

  // The latest time that finds the record, in quarters of an hour.
  let found = sign === 1 ? 0 : -MAX_QUARTERS;
  let missing = sign === 1 ? MAX_QUARTERS + 1 : 0;
  while (missing - found > 1) {
    const middle = Math.floor((found + missing) / 2);
    if (await record.isFound(middle * QUARTER_MS - SECOND_MS)) found = middle;
    else missing = middle;
  }
  // A time zone shifts by quarters of an hour; a filter on another field than updatedAt by any amount.
  if (await record.isFound(found * QUARTER_MS + SECOND_MS))
    return nothingCompared(`record ${id} is found up to a time that is not a time zone away from ${shown}`);
  const minutes = found * 15;
  return {
    compares,
    shiftMinutes: known(minutes, `record ${id} is found up to ${minutes} minutes from ${shown}`),
  };
}

/** The record shows an offset: a bound in the same offset finds it in either case. */
async function compareWithOffset(record: RecordSince, offsetMinutes: number): Promise<Comparison> {
  const { id, shown } = record;
  if (!(await record.isFound(0, 'shown')) && !(await record.isFound(-SECOND_MS, 'shown')))
    return nothingCompared(`record ${id} is not found by its own updatedAt, ${shown}`);

  // West of UTC the digits of a bound in UTC are later than those of the record, east of it earlier.
  const isLocal = offsetMinutes < 0 ? !(await record.isFound(-SECOND_MS)) : await record.isFound(SECOND_MS);
  const evidence = `record ${id} of ${shown}, requested with the same moment in UTC`;
  return {
    compares: known(isLocal ? 'local' : 'utc', evidence),
    shiftMinutes: known(isLocal ? offsetMinutes : 0, evidence),
  };
}

/** A response that says nothing about the record. */
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

  /** Whether the record's own time plus `ms` finds it, written in UTC or in the offset that it shows. */
  async isFound(ms: number, how: 'utc' | 'shown' = 'utc'): Promise<boolean> {
    const { id } = this;
    const updatedSince = this.#time(ms, how);
    const response = await this.#session.list(this.#segment, { updatedSince, 'id[gte]': id, 'id[lte]': id });
    const name = `record ${id} with updatedSince=${updatedSince}`;
    if (!response.ok) throw new Undecided(`requesting ${name} failed: ${response.code}`);

    const ids = idsOf(response.rows);
    if (ids.some((other) => other !== id)) throw new Undecided(`requesting ${name} returns others`);
    return ids.length > 0;
  }

  #time(ms: number, how: 'utc' | 'shown'): string {
    const offset = how === 'shown' ? this.offsetMinutes : 0;
    const local = new Date(Date.parse(this.shown) + ms + offset * 60_000).toISOString();
    // A fraction only if the record has one: the service understood the form without it before.
    const text = this.shown.includes('.') ? local.slice(0, -1) : local.slice(0, 19);
    return offset === 0 ? `${text}Z` : `${text}${/[+-]\d{2}:?\d{2}$/.exec(this.shown)?.[0]}`;
  }
}
