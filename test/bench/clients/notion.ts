import { Client, iteratePaginatedAPI } from '@notionhq/client';
import { API_KEY, type WalkClient } from '../support/client.ts';

export const walk: WalkClient = async ({ origin, pageSize }, visit) => {
  const notion = new Client({ auth: API_KEY, baseUrl: origin });
  for await (const record of iteratePaginatedAPI(notion.users.list, { page_size: pageSize })) {
    if (!visit(record)) return;
  }
};
