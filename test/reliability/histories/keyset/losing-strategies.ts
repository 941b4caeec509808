import type { IdBounds } from 'accounting-data-sdk';
import type { FetchPage, SimResponse } from '../service/server.ts';

/**
 * Ways to paginate that have lost records in the wild. They must lose records here too: a simulation in which these
 * deliver everything could not show that `keyset` does.
 */
export type Strategy = (fetchPage: FetchPage) => AsyncGenerator<SimResponse, void>;

/** `_page=1,2,3…` to an empty page. */
export const pages: Strategy = async function* (fetchPage) {
  for (let page = 1; ; page++) {
    const response = await fetchPage({ page });
    yield response;
    if (response.ids.length === 0) return;
  }
};

/** `id[gt]` with the last id of the page, trusting that the order is by id. */
export const idGreaterOnTrust: Strategy = (fetchPage) => onTrust(fetchPage, { forward: true, id: undefined });

/** The same, forward or backward as the first page looks. */
export const directionGuessed: Strategy = async function* (fetchPage) {
  const first = await fetchPage({});
  yield first;
  const { forward, last } = readOrder(first);
  if (last !== undefined) yield* onTrust(fetchPage, { forward, id: forward ? { gt: last } : { lt: last } });
};

/** Whether the first page holds the first ids is checked with `_page=2` within its bounds; the rest is trusted. */
export const onlyFirstPageCertified: Strategy = async function* (fetchPage) {
  const first = await fetchPage({});
  const { forward, last } = readOrder(first);
  if (last === undefined) return yield first;

  const within = forward ? { lte: last } : { gte: last };
  if ((await fetchPage({ page: 2, id: within })).ids.length > 0) {
    return yield* eachPageCertified(fetchPage);
  }
  yield first;
  yield* onTrust(fetchPage, { forward, id: forward ? { gt: last } : { lt: last } });
};

/** A page counts as everything up to its highest id if `_page=2` within these bounds is empty; otherwise it was cut. */
export const eachPageCertified: Strategy = async function* (fetchPage) {
  let after: bigint | undefined;
  let through: bigint | undefined;
  for (;;) {
    const from: IdBounds = after === undefined ? {} : { gt: String(after) };
    const bounds = { ...from, ...(through === undefined ? {} : { lte: String(through) }) };
    const response = await fetchPage({ id: bounds });
    const keys = response.ids.map(BigInt).sort((a, b) => (a < b ? -1 : 1));
    const highest = through ?? keys.at(-1);
    if (highest === undefined) return yield response;

    const probe = await fetchPage({ page: 2, id: { ...from, lte: String(highest) } });
    if (probe.ids.length === 0) {
      yield response;
      after = highest;
      through = undefined;
    } else through = keys[(keys.length - 1) >> 1] ?? highest;
  }
};

interface Course {
  readonly forward: boolean;
  readonly id: IdBounds | undefined;
}

async function* onTrust(fetchPage: FetchPage, { forward, id }: Course): AsyncGenerator<SimResponse, void> {
  for (let bounds = id; ; ) {
    const response = await fetchPage(bounds === undefined ? {} : { id: bounds });
    yield response;
    const last = response.ids.at(-1);
    if (last === undefined) return;
    bounds = forward ? { gt: last } : { lt: last };
  }
}

function readOrder(response: SimResponse): { forward: boolean; last: string | undefined } {
  const [first, last] = [response.ids[0], response.ids.at(-1)];
  return { forward: first === undefined || last === undefined || BigInt(first) <= BigInt(last), last };
}
