import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import { causeText, isVisibleAscii } from '../internal/text.ts';
import { copyCauseWithoutKeys, Redactor } from './redact.ts';

/** A key, or a function that is called before each call: for keys that are rotated or kept in a vault. */
export type ApiKey = string | (() => string | Promise<string>);

export interface KeySource {
  /** Hides every key that was used. */
  readonly redactor: Redactor;
  /** The key, if the caller gave a string. */
  readonly fixed: string | undefined;
  /** Calls the caller's function for the key of a call. */
  ask(): Promise<string>;
  /** After a 401: another key than the rejected one; undefined if there is none. */
  replace(rejected: string): Promise<string | undefined>;
}

/** Calls that get a 401 share one call of the function, unless it has run for longer: it may never return. */
const LONGEST_SHARED_MS = 5_000;

export function createKeySource(apiKey: ApiKey): KeySource {
  const redactor = new Redactor();
  const checked = (key: unknown) => {
    const sent = checkKey(key);
    redactor.hide(sent);
    return sent;
  };
  if (typeof apiKey !== 'function') {
    const key = checked(apiKey);
    return { redactor, fixed: key, ask: async () => key, replace: async () => undefined };
  }
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
    return checked(key);
  };
  let refresh: { readonly key: Promise<string>; readonly since: number } | undefined;
  return {
    redactor,
    fixed: undefined,
    ask,
    async replace(rejected) {
      const now = monotonicMs();
      if (refresh === undefined || now - refresh.since >= LONGEST_SHARED_MS) {
        refresh = { key: ask(), since: now };
      }
      const shared = refresh;
      try {
        const key = await shared.key;
        return key === rejected ? undefined : key;
      } finally {
        if (refresh === shared) refresh = undefined;
      }
    },
  };
}

/** Checked before `Headers` sees it: its own error message would quote the key. */
function checkKey(key: unknown): string {
  if (typeof key !== 'string' || key === '') {
    throw new InvalidInputError(
      'apiKey',
      'is missing: pass it or set ACCOUNTING_API_KEY, which node --env-file=.env reads from a file',
    );
  }
  if (!isVisibleAscii(key)) {
    throw new InvalidInputError(
      'apiKey',
      'must be visible ASCII without spaces or line breaks; check for a stray newline',
    );
  }
  return key;
}
