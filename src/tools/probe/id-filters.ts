import { idComparison, MAX_INT4 } from '../id-form.ts';
import { idsOf } from '../list-body.ts';
import { explanationOf, type Finding, known, unknown } from './finding.ts';
import { type FirstPage, isRejection } from './first-pages.ts';
import type { ListAnswer, ProbeSession } from './probe-session.ts';
import type { FilterVerdict, IdFilterFindings, LargeBound } from './report.ts';

type Operator = 'gt' | 'gte' | 'lt' | 'lte';

/** Ids by their order, and how they compare. */
export interface SortedIds {
  readonly ids: readonly string[];
  readonly compare: (a: string, b: string) => number;
}

/** The ids of a first page by their order; why not, where they have none or there is nothing to compare. */
export function sortedIds({ ids, idForm }: FirstPage): SortedIds | string {
  const compare = idComparison(idForm);
  if (ids.length === 0) return 'there is no record to ask about';
  if (compare === undefined) return 'ids are neither numbers nor UUIDs nor ULIDs: their order is not known';
  return { ids: [...new Set(ids)].sort(compare), compare };
}

const ADMITS: Readonly<Record<Operator, (comparison: number) => boolean>> = {
  gt: (comparison) => comparison > 0,
  gte: (comparison) => comparison >= 0,
  lt: (comparison) => comparison < 0,
  lte: (comparison) => comparison <= 0,
};

/**
 * Asks about the four bounds on `id`; at most five requests. A bound that is left out in silence brings back
 * the first page, so each is chosen such that the first page holds a record which the bound excludes.
 */
export async function probeIdFilters(
  session: ProbeSession,
  first: FirstPage,
): Promise<Omit<IdFilterFindings, 'large'>> {
  const sorted = sortedIds(first);
  if (typeof sorted === 'string') {
    const nothing = unknown(sorted);
    return { gt: nothing, gte: nothing, lt: nothing, lte: nothing, together: nothing };
  }
  const { ids } = sorted;
  const single = (operator: Operator, bound: string) => askOne(session, { first, sorted, operator, bound });
  const gt = await single('gt', ids[Math.floor((ids.length - 1) / 2)] as string);
  const lt = await single('lt', ids[Math.ceil((ids.length - 1) / 2)] as string);

  const together = await askTogether(session, first, sorted);
  if (together.value === true) {
    const both = known('honoured' as const, explanationOf(together));
    return { gt, gte: both, lt, lte: both, together };
  }
  const gte = await single('gte', ids.at(-1) as string);
  const lte = await single('lte', ids[0] as string);
  return { gt, gte, lt, lte, together };
}

interface SingleBound {
  readonly first: FirstPage;
  readonly sorted: SortedIds;
  readonly operator: Operator;
  readonly bound: string;
}

async function askOne(session: ProbeSession, asked: SingleBound): Promise<Finding<FilterVerdict>> {
  const { first, operator, bound, sorted } = asked;
  const admits = (id: string) => ADMITS[operator](sorted.compare(id, bound));
  if (first.ids.every(admits)) return unknown('there is only one record, which the bound does not exclude');

  const name = `id[${operator}]=${bound}`;
  const answer = await session.list(first.segment, { [`id[${operator}]`]: bound });
  if (!answer.ok) return rejectedOrUnknown(answer, name);

  const ids = idsOf(answer.rows);
  const outside = ids.filter((id) => !admits(id));
  if (outside.length > 0) {
    // The bound itself among the rows, and yet not the first page: read as its inclusive neighbour.
    const onlyTheBound = outside.every((id) => id === bound) && ids.join() !== first.ids.join();
    return onlyTheBound
      ? unknown(`${name} is applied, but its response holds the bound itself`)
      : known('ignored', `the response to ${name} holds ${outside[0]}`);
  }
  if (ids.length === 0 && first.ids.some(admits))
    return unknown(`${name} returns nothing, though records fit`);
  return known('honoured', `the response to ${name} holds nothing outside, the first page does`);
}

/**
 * `id[gte]` and `id[lte]` around one id in the middle: only where both hold, and together, is that record the whole
 * answer, for the page has room for its neighbours on either side.
 */
async function askTogether(
  session: ProbeSession,
  first: FirstPage,
  { ids, compare }: SortedIds,
): Promise<Finding<boolean>> {
  if (ids.length < 3) return unknown(`${ids.length} records are too few to tell`);

  const middle = ids[Math.floor(ids.length / 2)] as string;
  const name = `id[gte]=${middle}&id[lte]=${middle}`;
  const answer = await session.list(first.segment, { 'id[gte]': middle, 'id[lte]': middle });
  if (isRejection(answer)) return known(false, `${name} returns ${answer.status}`);
  if (!answer.ok) return unknown(`${name} failed: ${answer.code}`);

  const seen = idsOf(answer.rows);
  const foreign = seen.find((id) => compare(id, middle) !== 0);
  if (seen.length === 0) return unknown(`${name} returns nothing, though one record fits`);
  if (foreign !== undefined) return known(false, `the response to ${name} holds ${foreign}`);
  return known(true, `the response to ${name} is that record alone`);
}

/** A bound beyond int4, to a service whose ids are not: does it answer with an error? */
export async function probeLargeBound(
  session: ProbeSession,
  first: FirstPage,
  gt: Finding<FilterVerdict>,
): Promise<Finding<LargeBound>> {
  if (first.idForm !== 'numeric') return unknown('ids are not numbers');
  if (gt.value !== 'honoured') return unknown('id[gt] itself is not known to be honoured');
  const largest = first.ids.map(BigInt).reduce((a, b) => (a > b ? a : b), 0n);
  if (largest > MAX_INT4) return known('honoured', `record ${largest} has an id beyond int4`);

  const bound = String(MAX_INT4 + 1n);
  const name = `id[gt]=${bound}`;
  // One attempt: a service that cannot store the bound fails each time.
  const answer = await session.list(first.segment, { 'id[gt]': bound }, { retry: { maxAttempts: 1 } });
  if (answer.ok) return known('honoured', `${name} returns ${answer.rows.length} records`);
  const { status } = answer;
  if (status === 500) return known('server_error', `${name} returns 500: ids are stored as int4`);
  return rejectedOrUnknown(answer, name);
}

/** An error as a verdict on a filter. */
export function rejectedOrUnknown(answer: ListAnswer, name: string): Finding<FilterVerdict> {
  if (isRejection(answer)) return known('rejected', `${name} returns ${answer.status}`);
  return unknown(`${name} failed: ${answer.ok ? 'unreadable' : answer.code}`);
}
