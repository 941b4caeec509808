import { recordCount } from '../../internal/text.ts';
import { idComparison, MAX_INT4 } from '../ids.ts';
import { idsOf } from '../rows.ts';
import { allUnknown, explanationOf, known, unknown } from './finding.ts';
import type { FirstPage } from './pages.ts';
import type { FilterVerdict, Finding, IdFilterFindings } from './report.ts';
import { isRejection, type ListResponse, type ProbeSession } from './session.ts';

type Operator = 'gt' | 'gte' | 'lt' | 'lte';

const ADMITS: Readonly<Record<Operator, (comparison: number) => boolean>> = {
  gt: (comparison) => comparison > 0,
  gte: (comparison) => comparison >= 0,
  lt: (comparison) => comparison < 0,
  lte: (comparison) => comparison <= 0,
};

/** Ids in their order. */
interface SortedIds {
  readonly ids: readonly string[];
  readonly compare: (a: string, b: string) => number;
}

/** The ids of the first page in their order, or the reason why it is unknown. */
function sortedIds({ ids, idForm }: FirstPage): SortedIds | string {
  const compare = idComparison(idForm);
  if (ids.length === 0) return 'there is no record';
  if (compare === undefined) return 'ids are neither integers nor UUIDs nor ULIDs: their order is unknown';
  return { ids: [...new Set(ids)].sort(compare), compare };
}

/** `gt`, `lt`, and `gte` with `lte`; if those do not work together, each of them. */
export const ID_BOUNDS_REQUESTS = 5;

/**
 * Requests the four bounds on `id`. A service that ignores a bound returns the first page, so each bound is chosen to
 * exclude a record of that page.
 */
export async function probeIdBounds(
  session: ProbeSession,
  first: FirstPage,
): Promise<Omit<IdFilterFindings, 'large'>> {
  const sorted = sortedIds(first);
  if (typeof sorted === 'string') return allUnknown(sorted, ['gt', 'gte', 'lt', 'lte', 'together']);
  const { ids } = sorted;
  const probeOne = (operator: Operator, at: number) =>
    probeBound(session, first, { sorted, operator, bound: ids[at] as string });
  const gt = await probeOne('gt', Math.floor((ids.length - 1) / 2));
  const lt = await probeOne('lt', Math.ceil((ids.length - 1) / 2));

  const together = await probeTogether(session, first, sorted);
  if (together.value === true) {
    const both = known('honoured' as const, explanationOf(together));
    return { gt, gte: both, lt, lte: both, together };
  }
  const gte = await probeOne('gte', ids.length - 1);
  const lte = await probeOne('lte', 0);
  return { gt, gte, lt, lte, together };
}

async function probeBound(
  session: ProbeSession,
  first: FirstPage,
  { sorted, operator, bound }: { sorted: SortedIds; operator: Operator; bound: string },
): Promise<Finding<FilterVerdict>> {
  const admits = (id: string) => ADMITS[operator](sorted.compare(id, bound));
  if (first.ids.every(admits)) return unknown('there is only one record, which the bound does not exclude');

  const name = `id[${operator}]=${bound}`;
  const response = await session.list(first.segment, { [`id[${operator}]`]: bound });
  if (!response.ok) return rejectedOrUnknown(response, name);

  const ids = idsOf(response.rows);
  const outside = ids.filter((id) => !admits(id));
  if (outside.length > 0) {
    // Only the bound itself, and not the first page: the service applies it as its inclusive neighbour.
    const isInclusive = outside.every((id) => id === bound) && ids.join() !== first.ids.join();
    return isInclusive
      ? unknown(`${name} is applied, but its response holds the bound itself`)
      : known('ignored', `the response to ${name} holds ${outside[0]}`);
  }
  if (ids.length === 0 && first.ids.some(admits))
    return unknown(`${name} returns nothing, though records fit`);
  return known('honoured', `the response to ${name} holds nothing outside, the first page does`);
}

/** `id[gte]` and `id[lte]` with one id in the middle: its record is the whole response only if both hold together. */
async function probeTogether(
  session: ProbeSession,
  first: FirstPage,
  { ids, compare }: SortedIds,
): Promise<Finding<boolean>> {
  if (ids.length < 3) return unknown(`${recordCount(ids.length)}: too few`);

  const middle = ids[Math.floor(ids.length / 2)] as string;
  const name = `id[gte]=${middle}&id[lte]=${middle}`;
  const response = await session.list(first.segment, { 'id[gte]': middle, 'id[lte]': middle });
  if (isRejection(response)) return known(false, `${name} returns ${response.status}`);
  if (!response.ok) return unknown(`${name} failed: ${response.code}`);

  const seen = idsOf(response.rows);
  const outside = seen.find((id) => compare(id, middle) !== 0);
  if (seen.length === 0) return unknown(`${name} returns nothing, though one record fits`);
  if (outside !== undefined) return known(false, `the response to ${name} holds ${outside}`);
  return known(true, `the response to ${name} is that record alone`);
}

/** A bound above int4: PostgreSQL makes a service fail with 500 if the column is a 32-bit integer. */
export async function probeLargeBound(
  session: ProbeSession,
  first: FirstPage,
  gt: Finding<FilterVerdict>,
): Promise<IdFilterFindings['large']> {
  if (first.idForm !== 'numeric') return unknown('ids are not integers');
  if (gt.value !== 'honoured') return unknown('whether id[gt] itself is honoured is unknown');
  const largest = first.ids.map(BigInt).reduce((a, b) => (a > b ? a : b), 0n);
  if (largest > MAX_INT4) return known('honoured', `record ${largest} has an id above int4`);

  const bound = String(MAX_INT4 + 1n);
  const name = `id[gt]=${bound}`;
  // One attempt: a service that cannot store the bound fails each time.
  const response = await session.list(first.segment, { 'id[gt]': bound }, { retry: { maxAttempts: 1 } });
  if (response.ok) return known('honoured', `${name} returns ${recordCount(response.rows.length)}`);
  return response.status === 500
    ? known('server_error', `${name} returns 500: ids are stored as int4`)
    : rejectedOrUnknown(response, name);
}

/** Ways to write a range, the client's own first. */
export const SEPARATORS = ['..', ',', ';', '|', ':', '...', '-', ' '] as const;

/** Requests `id[between]` with each separator until the service honours one. */
export async function probeBetween(
  session: ProbeSession,
  first: FirstPage,
  separators: readonly string[],
): Promise<Finding<string>> {
  const sorted = sortedIds(first);
  if (typeof sorted === 'string') return unknown(sorted);
  if (sorted.ids.length < 2) return unknown('there is only one record, which no range excludes');

  for (const separator of separators) {
    const range = await honouredRange(session, first, { sorted, separator });
    if (range !== undefined)
      return known(separator, `the response to ${range} holds nothing outside, the first page does`);
  }
  const tried = separators.map((text) => `"${text}"`).join(', ');
  return unknown(`requested with ${tried}; the service honours none of them`);
}

/** The range that was requested, if the service honours it. */
async function honouredRange(
  session: ProbeSession,
  first: FirstPage,
  { sorted: { ids, compare }, separator }: { sorted: SortedIds; separator: string },
): Promise<string | undefined> {
  // Two neighbours, and a record of the first page outside: it is in the response if the range is ignored.
  const at = Math.max(0, Math.floor(ids.length / 2) - 1);
  const low = ids[at] as string;
  const high = ids.length === 2 ? low : (ids[at + 1] as string);
  const range = `${low}${separator}${high}`;
  const response = await session.list(first.segment, { 'id[between]': range });
  const seen = response.ok ? idsOf(response.rows) : [];
  const isInside = seen.every((id) => compare(id, low) >= 0 && compare(id, high) <= 0);
  return seen.length > 0 && isInside ? `id[between]=${range}` : undefined;
}

/** An error as a verdict on a filter. */
export function rejectedOrUnknown(response: ListResponse, name: string): Finding<FilterVerdict> {
  if (isRejection(response)) return known('rejected', `${name} returns ${response.status}`);
  return unknown(`${name} failed: ${response.ok ? 'unreadable' : response.code}`);
}
