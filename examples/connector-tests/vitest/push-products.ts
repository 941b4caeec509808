import { type Client, idempotencyKeyFor, isApiError, type Product } from 'accounting-data-sdk';

/** An article of a webshop. */
export interface Article {
  readonly sku: string;
  readonly title: string;
  readonly price: string;
}

/** What became of an article: the product in the books, or why it was not taken. */
export type Pushed = { readonly sku: string } & (
  | { readonly product: Product }
  | { readonly refused: string }
);

/**
 * Pushes articles into the books, each once: the key is made of the article, so that a run that died half way can be
 * repeated. An article that the books refuse is reported and does not stop the others.
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
      pushed.push({ sku, refused: error.violations.map(({ propertyPath }) => propertyPath).join(', ') });
    }
  }
  return pushed;
}
