import { InvalidInputError } from '../errors/invalid-input-error.ts';

/** Keys that are remembered: an older one is compared again. */
const MOST_KEYS = 10;

/** What a comparison with known records showed. `unknown`: the key cannot read, so the run will fail by itself. */
export type CompanyMatch = 'same' | 'none_same' | 'nothing_known' | 'unknown';

interface GuardOptions {
  readonly tenant: string;
  /** Identifies the service and the key. */
  readonly digestOf: (salt: string) => Promise<string | undefined>;
  /** Accepts a key whose company cannot be determined. */
  readonly sameCompany: boolean;
  /** Compares known records with those of the service. */
  readonly compare: () => Promise<CompanyMatch>;
}

/**
 * The guard against the API key of another company, whose records have the same ids. `stored` holds salted digests of the
 * keys that were used before. A new one is no error, because keys are rotated: one known record must be the same.
 * Returns what to store before anything is written; undefined if that is stored already.
 */
export async function admitKey(
  stored: string | undefined,
  { tenant, digestOf, sameCompany, compare }: GuardOptions,
): Promise<string | undefined> {
  const { salt, keys } = decode(stored);
  const digest = await digestOf(salt);
  if (digest === undefined || keys.includes(digest)) return undefined;
  const match = sameCompany ? 'same' : await compare();
  if (match === 'unknown') return undefined;
  if (match === 'none_same') {
    throw new InvalidInputError(
      'tenant',
      `${tenant} was written with another API key, and none of its known records is the same with this one; nothing was written. For another company, use another tenant. For a new key of the same company, pass sameCompany: true once`,
    );
  }
  return JSON.stringify({ salt, keys: [...keys, digest].slice(-MOST_KEYS) });
}

function decode(stored: string | undefined): { readonly salt: string; readonly keys: readonly string[] } {
  try {
    const { salt, keys } = JSON.parse(stored ?? '') as { salt?: unknown; keys?: unknown };
    if (typeof salt === 'string' && Array.isArray(keys)) return { salt, keys };
  } catch {}
  // A damaged value knows no key, so records are compared.
  return { salt: globalThis.crypto.randomUUID(), keys: [] };
}
