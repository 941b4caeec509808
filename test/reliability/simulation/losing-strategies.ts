import type { IdBounds, PageResponse } from 'accounting-data-sdk';
import type { FetchPage } from '../../../src/pagination/page.ts';
import type { SimRecord } from './chronicle.ts';

/**
 * Ways to walk that have lost records in the wild. They are here to be seen losing them: a simulation in which
 * these deliver everything could not tell that `keyset` does.
 */
export type Strategy = (fetchPage: FetchPage<SimRecord>) => AsyncGenerator<PageResponse<SimRecord>, void>;

/** `_page=1,2,3…` to an empty page. */
export const pages: Strategy = async function* (fetchPage) {
  for (let page = 1; ; page++) {
    const answer = await fetchPage({ page }, undefined);
    yield answer;
    if (answer.ids.length === 0) return;
  }
};

/** `id[gt]` with the last id of the page, on trust that the order is by id. */
export const idGreaterOnTrust: Strategy = (fetchPage) => onTrust(fetchPage, { forward: true, id: undefined });

/** The same, forward or backward as the first page looks. */
export const directionGuessed: Strategy = async function* (fetchPage) {
  const first = await fetchPage({}, undefined);
  yield first;
  const { forward, last } = readOrder(first);
  if (last !== undefined) yield* onTrust(fetchPage, { forward, id: forward ? { gt: last } : { lt: last } });
};

/** Whether the first page holds the first ids is checked with `_page=2` within its bounds; the rest is on trust. */
export const onlyFirstPageCertified: Strategy = async function* (fetchPage) {
  const first = await fetchPage({}, undefined);
  const { forward, last } = readOrder(first);
  if (last === undefined) return yield first;

  const within = forward ? { lte: last } : { gte: last };
  if ((await fetchPage({ page: 2, id: within }, undefined)).ids.length > 0) {
    return yield* eachPageCertified(fetchPage);
  }
  yield first;
  yield* onTrust(fetchPage, { forward, id: forward ? { gt: last } : { lt: last } });
};

/** A page is taken as everything up to its highest id where `_page=2` within these bounds is empty; else it is cut. */
export const eachPageCertified: Strategy = async function* (fetchPage) {
  let after: bigint | undefined;
  let through: bigint | undefined;
  for (;;) {
    const from: IdBounds = after === undefined ? {} : { gt: String(after) };
    const asked = { ...from, ...(through === undefined ? {} : { lte: String(through) }) };
    const answer = await fetchPage({ id: asked }, undefined);
    const keys = answer.ids.map(BigInt).sort((a, b) => (a < b ? -1 : 1));
    const highest = through ?? keys.at(-1);
    if (highest === undefined) return yield answer;

    const probe = await fetchPage({ page: 2, id: { ...from, lte: String(highest) } }, undefined);
    if (probe.ids.length === 0) {
      yield answer;
      after = highest;
      through = undefined;
    } else through = keys[(keys.length - 1) >> 1] ?? highest;
  }
};

interface Course {
  readonly forward: boolean;
  readonly id: IdBounds | undefined;
}

async function* onTrust(
  fetchPage: FetchPage<SimRecord>,
  { forward, id }: Course,
): AsyncGenerator<PageResponse<SimRecord>, void> {
  for (let bounds = id; ; ) {
    const answer = await fetchPage(bounds === undefined ? {} : { id: bounds }, undefined);
    yield answer;
    const last = answer.ids.at(-1);
    if (last === undefined) return;
    bounds = forward ? { gt: last } : { lt: last };
  }
}

function readOrder(answer: PageResponse<SimRecord>): { forward: boolean; last: string | undefined } {
  const [first, last] = [answer.ids[0], answer.ids.at(-1)];
  return { forward: first === undefined || last === undefined || BigInt(first) <= BigInt(last), last };
}
