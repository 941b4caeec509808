import { createClient, isAccountingError } from 'accounting-data-sdk';

const client = createClient();
const unknown = createClient({ apiKey: 'wrong' });

const calls = [
  () => client.products.get('9999'),
  () => client.products.create({ salePrice: '129.00' }),
  () => client.request({ method: 'GET', path: '/invoices' }),
  () => unknown.accounts.get('1'),
];

for (const call of calls) {
  try {
    await call();
  } catch (error) {
    if (!isAccountingError(error)) throw error;
    console.log(error.code, '·', error.outcome, '·', error.message);
  }
}
