import { createClient } from 'accounting-data-sdk';

const client = createClient();

// The service stores the product, but its response is lost.
// The client sends the create again, under the same key.
const desk = await client.products.create({
  name: 'Desk',
  salePrice: '129.00',
});
console.log(desk.name, desk.salePrice);

const products = await client.products.list().toArray({ limit: 10 });
console.log('products:', products.length);
