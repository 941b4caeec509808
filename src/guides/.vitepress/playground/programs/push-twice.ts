import { createClient, push } from 'accounting-data-sdk';

const client = createClient();
const store = new Map<string, string>();
const rows = [
  { productNumber: 'DESK-160', name: 'Desk', salePrice: '129.00' },
  { productNumber: 'DESK-180', name: 'Long desk', salePrice: '149.00' },
  { productNumber: 'CHAIR-1', name: 'Chair', salePrice: '59.00' },
];

function run() {
  return push(client.products, {
    tenant: 'shop',
    key: 'productNumber',
    rows,
    store,
  });
}

console.log((await run()).counts);

rows[2] = { productNumber: 'CHAIR-1', name: 'Chair', salePrice: '49.00' };
console.log((await run()).counts);
