import { createClient } from 'accounting-data-sdk';
import { Books } from './books.ts';
import { check, equal } from './expect.ts';

/** The answer to a create is lost after it was carried out: it is sent again, and one product is made. */
export async function create(orders: string): Promise<string> {
  const books = await Books.open(orders);
  await books.fault({ kind: 'lost-response', committed: true }, { method: 'POST' });
  const client = createClient(books.clientOptions);
  const desk = await client.products.create({ name: 'Desk', salePrice: '12345678901234567.8901' });
  equal(desk.salePrice, '12345678901234567.8901', 'the price');

  const { products, requests, created } = await books.look();
  equal(products, [desk.id], 'the products in the books');
  equal(created, 1, 'the number of creates');
  // A browser may send it again by itself: under the same key, as the client does.
  equal(requests.length, 2, 'the number of requests');
  const keys = new Set(requests.map(({ idempotencyKey }) => idempotencyKey));
  check(keys.size === 1 && !keys.has(undefined), 'one idempotency key');

  await client.products.update(desk.id, { salePrice: null });
  equal((await client.products.get(desk.id)).salePrice, null, 'the price that was cleared');
  await client.products.delete(desk.id);
  equal(await client.products.find(desk.id), undefined, 'the product that was deleted');
  await books.close();
  return 'one product, two requests, one key';
}
