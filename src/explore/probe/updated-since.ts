import { recordCount } from '../../internal/text.ts';
import { idsOf, type Row } from '../rows.ts';
import { allUnknown, known, unknown } from './finding.ts';
import { rejectedOrUnknown } from './id-bounds.ts';
import type { FirstPage } from './pages.ts';
import { momentOf } from './records.ts';
import type { FilterVerdict, Finding, UpdatedSinceFindings } from './report.ts';
import { isRejection, type ListResponse, type ProbeSession } from './session.ts';

const SECOND_MS = 1000;
const TWO_DAYS_MS = 2 * 24 * 60 * 60 * SECOND_MS;
const NOT_HONOURED = 'updatedSince itself is not known to be honoured';

/** The future, again in UTC if its offset is rejected, an invalid value, and a record's own timestamp. */
export const UPDATED_SINCE_REQUESTS = 6;

type Comparison = UpdatedSinceFindings['compares'];

export async function probeUpdatedSince(
  session: ProbeSession,
  first: FirstPage,
  boundsHold: boolean,
): Promise<UpdatedSinceFindings> {
  const { verdict, offset } = await probeFuture(session, first);
  const invalidValue = await probeInvalidValue(session, first, verdict);
  const row = first.rows.find((one) => idsOf([one]).length > 0 && momentOf(one.updatedAt) !== undefined);
  const compare = () => {
    if (verdict.value !== 'honoured' || !boundsHold)
      return unknown('needs updatedSince and the bounds on id to be honoured');
    return row === undefined
      ? unknown('no record shows its updatedAt')
      : compareTimes(new RecordSince(session, first.segment, row));
  };
  return { verdict, offset, invalidValue, compares: await compare() };
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
    : known('ignored', `${name} returns ${recordCount(response.rows.length)}`);
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

/**
 * Requests one record by its id, with `updatedSince` at and around its own `updatedAt`. A service that ignores the
 * offset of the bound, or compares it with local times, finds the record at other times.
 */
async function compareTimes(record: RecordSince): Promise<Comparison> {
  try {
    return record.offsetMinutes === 0
      ? await compareInUtc(record)
      : await compareWithOffset(record, record.offsetMinutes);
  } catch (error) {
    if (error instanceof Undecided) return unknown(error.message);
    throw error;
  }
}

/** The record shows its time in UTC: another time that finds it is local, or that of another field. */
async function compareInUtc(record: RecordSince): Promise<Comparison> {
  const { id, shown } = record;
  if (await record.isFound(SECOND_MS)) return unknown(`record ${id} is found by times after ${shown}`);
  // A filter may leave out its own second.
  if ((await record.isFound(0)) || (await record.isFound(-SECOND_MS)))
    return known('utc', `record ${id} of ${shown} is found up to that second`);
  return unknown(`record ${id} is not found by its own updatedAt, ${shown}`);
}

/** The record shows an offset: a bound in the same offset finds it in either case. */
async function compareWithOffset(record: RecordSince, offsetMinutes: number): Promise<Comparison> {
  const { id, shown } = record;
  if (!(await record.isFound(0, 'shown')) && !(await record.isFound(-SECOND_MS, 'shown')))
    return unknown(`record ${id} is not found by its own updatedAt, ${shown}`);

  // West of UTC the digits of a bound in UTC are later than those of the record, east of it earlier.
  const isLocal = offsetMinutes < 0 ? !(await record.isFound(-SECOND_MS)) : await record.isFound(SECOND_MS);
  return known(isLocal ? 'local' : 'utc', `record ${id} of ${shown}, requested with the same moment in UTC`);
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
