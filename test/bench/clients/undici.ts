import { request } from 'undici';
import { API_KEY, type ReadAll } from '../support/client.ts';

export const readAll: ReadAll = async ({ origin }, visit) => {
  for (let page = 1; ; page += 1) {
    const { body } = await request(`${origin}/api/public/v1/products?_page=${page}`, {
      headers: { 'x-auth-token': API_KEY },
    });
    const records = (await body.json()) as { id: string }[];
    if (records.length === 0) return;
    for (const record of records) if (!visit(record)) return;
  }
};
