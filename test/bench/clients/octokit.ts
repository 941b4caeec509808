import { Octokit } from '@octokit/core';
import { paginateRest } from '@octokit/plugin-paginate-rest';
import { throttling } from '@octokit/plugin-throttling';
import { API_KEY, type ReadAll } from '../support/client.ts';

const WithPlugins = Octokit.plugin(paginateRest, throttling);

export const readAll: ReadAll = async ({ origin, pageSize }, visit) => {
  const octokit = new WithPlugins({
    auth: API_KEY,
    baseUrl: origin,
    throttle: { onRateLimit: () => true, onSecondaryRateLimit: () => true },
  });
  for await (const { data } of octokit.paginate.iterator('GET /products', { per_page: pageSize })) {
    for (const record of data as { id: string }[]) if (!visit(record)) return;
  }
};
