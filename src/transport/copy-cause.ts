import { redactText } from './redact.ts';

/** More of a message says no more of the reason. */
const LONGEST = 1_000;

/** What may be a key that is not known yet: a function that fails to return the key may still quote it. */
const LIKE_A_KEY = /(?=\S*\d)\S{6,}|\S{16,}/g;

/** The same without anything that looks like a key. */
export function copyCauseWithoutKeys(thrown: unknown): unknown {
  return copyOf(thrown, (text) => text.replaceAll(LIKE_A_KEY, '[redacted]'));
}

/**
 * A copy of what the caller's `fetch` threw, without the API key: its name, message and code, and those of its cause.
 * The error itself may hold the request, and with it the key.
 */
export function copyCause(thrown: unknown, apiKey: string): unknown {
  return copyOf(thrown, (text) => redactText(text, apiKey));
}

function copyOf(thrown: unknown, redacted: (text: string) => string, depth = 1): unknown {
  const clear = (text: string) => redacted(text).slice(0, LONGEST);
  if (!(thrown instanceof Error)) return typeof thrown === 'string' ? clear(thrown) : undefined;

  const inner = depth < 4 ? copyOf(thrown.cause, redacted, depth + 1) : undefined;
  const copy = new Error(clear(thrown.message), inner === undefined ? undefined : { cause: inner });
  const { code } = thrown as { code?: unknown };
  Object.defineProperty(copy, 'name', { value: clear(thrown.name), configurable: true });
  // The stack begins with the message and may name files of the caller's: the copy has none of its own.
  Object.defineProperty(copy, 'stack', { value: `${copy.name}: ${copy.message}`, configurable: true });
  if (typeof code === 'string') Object.assign(copy, { code: clear(code) });
  if (typeof code === 'number') Object.assign(copy, { code });
  return copy;
}
