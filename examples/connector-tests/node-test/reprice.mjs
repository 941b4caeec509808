import { toDecimal, toMoney } from 'accounting-data-sdk';

/** Raises the price of every product that is for sale by the given percentage; returns the ids of the changed ones. */
export async function reprice(client, percent) {
  const factor = toDecimal('1').plus(toDecimal(percent).div(100));
  const changed = [];
  for await (const product of client.products.list()) {
    if (product.isSaleItem !== true || product.salePrice == null) continue;
    const salePrice = toMoney(toDecimal(product.salePrice).times(factor), { digits: 4, rounding: 'half_up' });
    await client.products.update(product.id, { salePrice });
    changed.push(product.id);
  }
  return changed;
}
