import {
  type Account,
  type Client,
  type CollectionName,
  createClient,
  type Product,
  type RecordOf,
} from 'accounting-data-sdk';
import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';

/** As a user writes it. */
async function all<N extends CollectionName>(client: Client, name: N): Promise<RecordOf<N>[]> {
  return client.collection(name).list().toArray({ limit: 5 });
}

type Handlers = { readonly [N in CollectionName]?: (record: RecordOf<N>) => string };

async function handle<N extends CollectionName>(
  client: Client,
  name: N,
  handlers: Handlers,
): Promise<string[]> {
  const handler = handlers[name];
  const lines: string[] = [];
  for await (const record of client.collection(name).list()) lines.push(handler?.(record) ?? record.id);
  return lines;
}

test('a function that is generic over collections keeps the type of their records', () => {
  const client = createClient();
  expectTypeOf(all(client, 'products')).resolves.toEqualTypeOf<Product[]>();
  expectTypeOf(all(client, 'accounts')).resolves.toEqualTypeOf<Account[]>();
  expectTypeOf(all<CollectionName>).toBeFunction();
  handle(client, 'products', { products: ({ salePrice }) => salePrice ?? '', boms: ({ id }) => id });
  // @ts-expect-error: a product has no such field
  handle(client, 'products', { products: ({ salesPrice }) => salesPrice });
  // @ts-expect-error: there is no such collection
  all(client, 'invoices');
});

test('the schemas of a client type its collections by name, and unknown segments stay open', () => {
  const accounts = z.object({ id: z.string(), city: z.string() });
  const client = createClient({ schemas: { accounts } });
  expectTypeOf(client.collection('accounts').get('1')).resolves.toEqualTypeOf<{ id: string; city: string }>();
  expectTypeOf(client.collection('invoices').get('1')).resolves.toHaveProperty('id').toEqualTypeOf<string>();
  const own = client.collection('invoices', { schema: z.object({ id: z.string(), total: z.string() }) });
  expectTypeOf(own.get('1')).resolves.toEqualTypeOf<{ id: string; total: string }>();
});
