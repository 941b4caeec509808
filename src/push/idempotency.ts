// The idempotency key of a create: the same in every run, as long as the create is the same.

import { type Fields, withoutNull } from './draft.ts';

/** What identifies an intended create. */
export interface Create {
  readonly tenant: string;
  /** The natural key of the row. */
  readonly key: string;
  /** How many products of this draft were created and deleted before. */
  readonly generation: number;
  /** Normalised. */
  readonly draft: Fields;
}

const PREFIX = 'push-';

/** The SHA-256 of what identifies a create. A later run repeats an unknown create under the same key. */
export async function idempotencyKeyOf({ tenant, key, generation, draft }: Create): Promise<string> {
  const text = JSON.stringify([tenant, key, generation, withoutNull(draft)]);
  const digest = await globalThis.crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0'));
  return PREFIX + hex.join('');
}

/** Whether a key is that of {@link idempotencyKeyOf} and not a random one. */
export function isDeterministic(idempotencyKey: string): boolean {
  return idempotencyKey.startsWith(PREFIX);
}
