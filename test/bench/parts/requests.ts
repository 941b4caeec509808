import { clientOf, listPages } from '../../reliability/histories/service/client.ts';
import { ORDERS } from '../../reliability/histories/service/orders.ts';
import { type SimOptions, SimServer } from '../../reliability/histories/service/server.ts';
import type { Findings } from '../support/part.ts';

const RECORDS = 3_000;
const PAGE_SIZE = 30;
const IDS = ['dense', 'sparse'] as const;

/** The requests of a read while nothing changes. */
async function requestsOf(
  pagination: 'page' | 'keyset',
  { ids, order }: Pick<SimOptions, 'ids' | 'order'>,
): Promise<number> {
  const server = new SimServer({ seed: 1, records: RECORDS, pageSize: PAGE_SIZE, ids, order });
  let records = 0;
  for await (const page of listPages(clientOf(server).accounts, { pagination }))
    records += page.records.length;
  if (records !== RECORDS) throw new Error(`${order}, ${ids}: ${records} records`);
  return server.requests;
}

export async function requests(): Promise<Findings> {
  const rows: string[][] = [];
  const worst = { dense: 0, sparse: 0 };
  for (const ids of IDS) {
    for (const order of ORDERS) {
      const [byPages, byIntervals] = [
        await requestsOf('page', { ids, order }),
        await requestsOf('keyset', { ids, order }),
      ];
      const ratio = byIntervals / byPages;
      // In another order, spot checks come on top.
      if (order.startsWith('id')) worst[ids] = Math.max(worst[ids], ratio);
      rows.push([ids, order, `${byPages}`, `${byIntervals}`, ratio.toFixed(2)]);
    }
  }
  return {
    tables: [
      {
        title: `Requests of a list of ${RECORDS.toLocaleString('en')} records, ${PAGE_SIZE} a page`,
        columns: ['ids', 'listed by', 'page', 'keyset', '×'],
        rows,
      },
    ],
    figures: worst,
  };
}
