import type { Effort, Findings } from '../support/part.ts';
import { median } from '../support/rounds.ts';
import { costTable, overFetch, walkCosts } from './walk.ts';

const REQUESTS = 1_000;
/** Until then the engine compiles. */
const WARM_UP = 300;

/** Pages of one record: what a request costs beside its records. */
export async function fixed({ rounds, quick }: Effort): Promise<Findings> {
  const requests = quick ? REQUESTS / 100 : REQUESTS;
  const costs = await walkCosts({ pageSize: 1, pages: requests, warmUpPages: WARM_UP }, rounds);
  return {
    tables: [costTable(`${requests.toLocaleString('en')} requests for one record, for each request`, costs)],
    figures: { fixed: median(overFetch(costs, 'ours')) },
  };
}
