import { createClient } from '../support/built.ts';
import { API_KEY, type WalkClient } from '../support/client.ts';

export const walk: WalkClient = async ({ origin }, visit) => {
  const client = createClient({ baseUrl: origin, apiKey: API_KEY });
  for await (const record of client.products.list()) if (!visit(record)) return;
};
