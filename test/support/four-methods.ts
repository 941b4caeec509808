import type { ClientOptions, RequestOptions } from 'accounting-data-sdk';
import { type Client, createClient } from 'accounting-data-sdk';

export const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'] as const;
export type FourMethods = (typeof METHODS)[number];

/** One call of each method. */
export function callWith(
  client: Client,
  method: FourMethods,
  options: RequestOptions = {},
): Promise<unknown> {
  const { products } = client;
  switch (method) {
    case 'GET':
      return products.get('42', options);
    case 'POST':
      return products.create({ name: 'Desk', salePrice: '129.0000' }, options);
    case 'PATCH':
      return products.update('42', { name: 'Desk', brand: null }, options);
    case 'DELETE':
      return products.delete('42', options);
  }
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
