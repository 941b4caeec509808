/** Creates a product and handles every way in which this can fail. */
import { createClient, idempotencyKeyFor, isAccountingError, type ProductDraft } from 'accounting-data-sdk';

const client = createClient();

async function createProduct(articleNumber: string, draft: ProductDraft): Promise<string> {
  // The same article has the same key in every run, so a repeated create returns the first product.
  const idempotencyKey = idempotencyKeyFor('shop-17', 'product', articleNumber);
  try {
    const product = await client.products.create(draft, { idempotencyKey });
    return `created ${product.name}`;
  } catch (error) {
    if (!isAccountingError(error)) throw error; // a bug, or an abort
    switch (error.code) {
      case 'validation_failed':
        return `correct the row: ${error.violations.map((each) => `${each.propertyPath}: ${each.message}`).join('; ')}`;
      case 'invalid_input':
        return `correct the program: ${error.message}`;
      case 'unauthenticated':
      case 'forbidden':
      case 'scope_required':
        return `replace the API key: ${error.message}`;
      case 'rate_limited':
        return `try again in ${error.retryAfterMs ?? 60_000} ms`;
      default:
        // 'unknown' means that the product may exist. The same key makes repeating the create safe.
        return error.retryable || error.outcome === 'unknown'
          ? `try again with the same key: ${error.message}`
          : `stop and look: ${error.message}`;
    }
  }
}

console.log(await createProduct('DESK-160', { name: 'Desk', salePrice: '129.0000' }));
console.log(await createProduct('DESK-160', { name: 'Desk', salePrice: '129.0000' }));
console.log(await createProduct('CHAIR-7', { name: '' }));
