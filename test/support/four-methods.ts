import { type Client, type ClientOptions, createClient, type RequestOptions } from 'accounting-data-sdk';

export const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'] as const;
export type FourMethods = (typeof METHODS)[number];

/** One call of each method. */
export function callWith(
  { products }: Client,
  method: FourMethods,
  options: RequestOptions = {},
): Promise<unknown> {
  if (method === 'GET') return products.get('42', options);
  if (method === 'POST') return products.create({ name: 'Desk', salePrice: '129.0000' }, options);
  if (method === 'PATCH') return products.update('42', { name: 'Desk', brand: null }, options);
  return products.delete('42', options);
}

/** A client of a server on this machine, with very short retry delays. */
export function quickClient(baseUrl: string, options: ClientOptions = {}): Client {
  return createClient({
    baseUrl,
    apiKey: 'key-of-the-company',
    retry: { baseDelayMs: 1, maxDelayMs: 5 },
    ...options,
  });
}
