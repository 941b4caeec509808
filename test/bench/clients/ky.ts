import ky from 'ky';
import { API_KEY, type ReadAll } from '../support/client.ts';

export const readAll: ReadAll = async ({ origin }, visit) => {
  const client = ky.create({ headers: { 'x-auth-token': API_KEY } });
  for (let page = 1; ; page += 1) {
    const url = `${origin}/api/public/v1/products`;
    const records = await client.get(url, { searchParams: { _page: page } }).json<{ id: string }[]>();
    if (records.length === 0) return;
    for (const record of records) if (!visit(record)) return;
  }
};
