import { Client, iteratePaginatedAPI } from '@notionhq/client';
import { API_KEY, type ReadAll } from '../support/client.ts';

export const readAll: ReadAll = async ({ origin, pageSize }, visit) => {
  const notion = new Client({ auth: API_KEY, baseUrl: origin });
  for await (const record of iteratePaginatedAPI(notion.users.list, { page_size: pageSize })) {
    if (!visit(record)) return;
  }
};
