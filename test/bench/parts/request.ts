import type { Effort, Findings } from '../support/part.ts';
import { median } from '../support/rounds.ts';
import { costTable, listCosts, overKy } from './lists.ts';

const REQUESTS = 1_000;
/** Until then the engine compiles. */
const WARM_UP = 300;

/** Pages of one record: what a request costs beside its records. */
export async function request({ rounds, quick }: Effort): Promise<Findings> {
  const requests = quick ? REQUESTS / 100 : REQUESTS;
  const costs = await listCosts({ pageSize: 1, pages: requests, warmUpPages: WARM_UP }, rounds);
  return {
    tables: [costTable(`${requests.toLocaleString('en')} requests for one record, for each request`, costs)],
    // By keyset a page of one record takes more than one request.
    figures: { request: median(overKy(costs, 'ours-by-page')) },
  };
}
