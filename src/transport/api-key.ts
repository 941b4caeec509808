import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { causeText, isVisibleAscii } from '../internal/text.ts';
import { copyCauseWithoutKeys } from './copy-cause.ts';

/** A key, or a function that is asked before each call: for keys that are rotated or kept in a vault. */
export type ApiKey = string | (() => string | Promise<string>);

/** Where the transport gets the key from. */
export interface KeySource {
  /** The key, if the caller gave a string. */
  readonly fixed: string | undefined;
  /** Asks the caller's function for the key of a call. */
  ask(): Promise<string>;
  /**
   * After a 401: another key than the rejected one; undefined if there is none. Concurrent calls share one request of
   * the caller's function, until one of them gives up: then the next call asks again.
   */
  replace(rejected: string, signal: AbortSignal): Promise<string | undefined>;
}

export function createKeySource(apiKey: ApiKey): KeySource {
  if (typeof apiKey !== 'function') {
    const key = checkKey(apiKey);
    return { fixed: key, ask: async () => key, replace: async () => undefined };
  }
  let flight: Promise<string> | undefined;
  const ask = async () => {
    let key: unknown;
    try {
      key = await apiKey();
    } catch (error) {
      const cause = copyCauseWithoutKeys(error);
      const thrown = causeText(cause);
      const problem = `the function given as apiKey threw${thrown === '' ? '' : ` (${thrown})`}, so there is no key to send`;
      throw new InvalidInputError('apiKey', problem, {}, cause === undefined ? undefined : { cause });
    }
    return checkKey(key);
  };
  return {
    fixed: undefined,
    ask,
    async replace(rejected, signal) {
      const shared = flight ?? ask();
      flight = shared;
      const leave = () => {
        if (flight === shared) flight = undefined;
      };
      // A function that never answers must not keep later calls waiting for the same promise.
      signal.addEventListener('abort', leave, { once: true });
      try {
        const key = await shared;
        return key === rejected ? undefined : key;
      } finally {
        leave();
      }
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
