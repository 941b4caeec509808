import { type Client, idempotencyKeyFor, isApiError, type Product } from 'accounting-data-sdk';

/** An article of a webshop. */
export interface Article {
  readonly sku: string;
  readonly title: string;
  readonly price: string;
}

/** The result of an article: its product, or why it was rejected. */
export type Pushed = { readonly sku: string } & (
  | { readonly product: Product }
  | { readonly rejected: string }
);

/**
 * Creates a product for each article, once. The key is derived from the article, so that an interrupted run can be
 * repeated. A rejected article is reported and does not stop the others.
 */
export async function pushProducts(client: Client, articles: readonly Article[]): Promise<Pushed[]> {
  const pushed: Pushed[] = [];
  for (const { sku, title, price } of articles) {
    const draft = { productNumber: sku, name: title, salePrice: price };
    try {
      const product = await client.products.create(draft, {
        idempotencyKey: idempotencyKeyFor('article', sku),
      });
      pushed.push({ sku, product });
    } catch (error) {
      if (!isApiError(error, 'validation_failed')) throw error;
      pushed.push({ sku, rejected: error.violations.map(({ propertyPath }) => propertyPath).join(', ') });
    }
  }
  return pushed;
}
