import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { isVisibleAscii } from '../internal/text.ts';

/** A key, or a function that is asked before each call: for keys that are rotated or kept in a vault. */
export type ApiKey = string | (() => string | Promise<string>);

/** Where the transport gets the key from. */
export interface KeySource {
  /** The key for a call. */
  get(): string | Promise<string>;
  /** After a 401: another key than the one that was refused; undefined where there is none. One flight for all calls. */
  replace(refused: string): Promise<string | undefined>;
}

export function createKeySource(apiKey: ApiKey): KeySource {
  if (typeof apiKey !== 'function') {
    const key = checkKey(apiKey);
    return { get: () => key, replace: async () => undefined };
  }
  let flight: Promise<string> | undefined;
  const ask = async () => {
    let key: unknown;
    try {
      key = await apiKey();
    } catch {
      // The provider's own error may quote a key or a vault's answer: it is not passed on.
      throw new InvalidInputError('apiKey', 'the function given as apiKey threw, so there is no key to send');
    }
    return checkKey(key);
  };
  return {
    get: ask,
    async replace(refused) {
      flight ??= ask().finally(() => {
        flight = undefined;
      });
      const key = await flight;
      return key === refused ? undefined : key;
    },
  };
}

/** Checked before `Headers` sees it: its own error message would quote the key. */
function checkKey(key: unknown): string {
  if (typeof key !== 'string' || key === '') {
    throw new InvalidInputError('apiKey', 'is missing; give apiKey or set ACCOUNTING_API_KEY');
  }
  if (!isVisibleAscii(key)) {
    throw new InvalidInputError(
      'apiKey',
      'must be visible ASCII without spaces or line ends; check for a stray newline',
    );
  }
  return key;
}
