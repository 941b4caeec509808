import type { Store } from 'accounting-data-sdk';
import { CommandFailure, EXIT } from './errors.ts';

interface Company {
  readonly tenant: string;
  readonly keyDigest: string;
  /** Accepts another API key, because it is one of the same company. */
  readonly sameCompany: boolean;
}

/**
 * Rejects what was written with another API key: it can be the key of another company, whose records have the same ids.
 * The store holds a digest of the key. Returns what writes it.
 */
export async function checkCompany(
  { get, set }: { readonly get: Store['get']; readonly set: (key: string, value: string) => unknown },
  { tenant, keyDigest, sameCompany }: Company,
): Promise<() => Promise<void>> {
  const name = `accounting-data-sdk:${tenant}:api-key`;
  let known = await get(name);
  if (known !== undefined && known !== null && known !== keyDigest && !sameCompany) {
    throw new CommandFailure(`The state of ${tenant} was written with another API key.`, {
      advice:
        'For another company, pass another --tenant. For a new key of the same company, pass --same-company once.',
      exitCode: EXIT.file,
    });
  }
  return async () => {
    if (known !== keyDigest) await set(name, keyDigest);
    known = keyDigest;
  };
}
