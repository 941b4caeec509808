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
export const idGreaterOnTrust: Strategy = async function* (fetchPage) {
  for (let last: string | undefined; ; ) {
    const response = await fetchPage(last === undefined ? {} : { id: { gt: last } });
    yield response;
    last = response.ids.at(-1);
    if (last === undefined) return;
  }
};
