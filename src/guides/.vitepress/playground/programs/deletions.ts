import { createClient } from 'accounting-data-sdk';

const client = createClient();

/** Which products a read misses while others are deleted. */
async function missed(pagination: 'page' | 'keyset') {
  const seen = new Set<string>();
  const list = client.products.list({}, { pagination, prefetch: 0 });
  for await (const { id } of list) {
    seen.add(id);
    // Another user deletes a product that was read before.
    const [first = ''] = seen;
    if (seen.size === 15) await client.products.delete(first);
  }
  const left = await client.products.list().toArray({ limit: 1000 });
  return left.filter(({ id }) => !seen.has(id)).length;
}

console.log('missed by page:', await missed('page'));
console.log('missed by keyset:', await missed('keyset'));
