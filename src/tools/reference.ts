import { type CollectionName, collectionNames, collections } from '../collections/index.ts';

const bySegment = new Map<string, CollectionName>(
  collectionNames.map((name) => [collections[name].segment, name]),
);

const IRI = /\/api\/public\/v1\/([a-z-]+)\/([^/?#]+)$/;

/** The record that an IRI names, as in `/api/public/v1/accounts/2`; undefined for any other value. */
export function idFromReference(
  value: unknown,
): { readonly collection: CollectionName; readonly id: string } | undefined {
  const match = typeof value === 'string' ? IRI.exec(value) : null;
  const collection = bySegment.get(match?.[1] ?? '');
  if (match === null || collection === undefined) return undefined;
  try {
    return { collection, id: decodeURIComponent(match[2] ?? '') };
  } catch {
    return undefined;
  }
}
