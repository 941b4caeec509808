import { createClient } from '../support/built.ts';
import { API_KEY, type ReadAll } from '../support/client.ts';

export const readAll: ReadAll = async ({ origin }, visit) => {
  const client = createClient({ baseUrl: origin, apiKey: API_KEY, pagination: 'page' });
  for await (const record of client.products.list()) if (!visit(record)) return;
};
