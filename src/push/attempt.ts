// A create as it is sent: the draft, and an idempotency key that is the same in every run as long as the create is the same.

import { type Fields, withoutNull } from './draft.ts';

/** Repeated with the same key and draft, a create creates no second product. */
export interface Attempt {
  readonly idempotencyKey: string;
  /** Normalised, as JSON. */
  readonly draft: string;
}

const PREFIX = 'push-';

/**
 * The create of a row. Its key is the SHA-256 of what identifies it, so that a later run repeats an unknown create under
 * the same key. The generation counts the products of this draft that were created and deleted before.
 */
export async function attemptOf(
  tenant: string,
  { key, draft }: { readonly key: string; readonly draft: string },
  generation: number,
): Promise<Attempt> {
  const text = JSON.stringify([tenant, key, generation, withoutNull(JSON.parse(draft) as Fields)]);
  const digest = await globalThis.crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0'));
  return { idempotencyKey: PREFIX + hex.join(''), draft };
}

/** Whether an idempotency key is that of {@link attemptOf} and not a random one. */
export function isDeterministic(idempotencyKey: string): boolean {
  return idempotencyKey.startsWith(PREFIX);
}
