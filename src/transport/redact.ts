import { isError } from '../internal/realm.ts';

const REDACTED = '[redacted]';

/** A copy of a JSON value in which no string, and no name of a member, contains the secret: a service may echo it. */
export function redact(value: unknown, secret: string): unknown {
  const forms = formsOf(secret);
  return clearStrings(value, (text) => withoutForms(text, forms));
}

export function redactText(text: string, secret: string): string {
  return withoutForms(text, formsOf(secret));
}

/** A shorter secret belongs to a test: it would be found in words that have nothing to do with it. */
const LEAST_LENGTH = 8;

/** A string that does not come from the service, such as a path or the name of a field. */
export function redactOwnText(text: string, secret: string): string {
  return secret.length < LEAST_LENGTH ? text : redactText(text, secret);
}

/** A copy of a JSON value with `clear` applied to its strings and the names of its members. */
function clearStrings(value: unknown, clear: (text: string) => string, depth = 0): unknown {
  if (typeof value === 'string') return clear(value);
  if (typeof value !== 'object' || value === null) return value;
  // Nothing that explains an error lies this deep; the depth of a hostile body must not become our stack.
  if (depth > 20) return REDACTED;
  if (Array.isArray(value)) return value.map((item) => clearStrings(item, clear, depth + 1));

  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [clear(name), clearStrings(item, clear, depth + 1)]),
  );
}

/** The same value if `clear` changes none of its strings, because a copy of every response takes time. */
export function cleared(value: unknown, clear: (text: string) => string): unknown {
  return isChangedBy(value, clear) ? clearStrings(value, clear) : value;
}

/** Whether `clear` changes a string of a JSON value. One that is nested too deep to be written is taken to contain it. */
function isChangedBy(value: unknown, clear: (text: string) => string): boolean {
  try {
    const text = JSON.stringify(value) ?? '';
    return clear(text) !== text;
  } catch {
    return true;
  }
}

function withoutForms(text: string, forms: readonly string[]): string {
  return forms.reduce((left, form) => (left.includes(form) ? left.replaceAll(form, REDACTED) : left), text);
}

/** What looks the same in a URL and in quoted JSON. */
const PLAIN = /^[\w.~-]*$/;

/** The secret as it is, as it stands in a URL, in either case, and as it stands in quoted JSON. */
function formsOf(secret: string): readonly string[] {
  if (PLAIN.test(secret)) return [secret];

  const encoded = encodeURIComponent(secret);
  const lower = encoded.replace(/%../g, (byte) => byte.toLowerCase());
  return [secret, encoded, lower, JSON.stringify(secret).slice(1, -1)];
}

/** More of a message does not explain more. */
const LONGEST = 1_000;

/** What may be a key that is not known yet: a function that fails to return the key may quote it. */
const LIKE_A_KEY = /(?=\S*\d)\S{6,}|\S{16,}/g;

/** A copy of what the caller's `apiKey` function threw, without anything that looks like a key. */
export function copyCauseWithoutKeys(thrown: unknown): unknown {
  return copyOf(thrown, (text) => text.replaceAll(LIKE_A_KEY, '[redacted]'));
}

/**
 * A copy of what the caller's `fetch` threw, without the API key: its name, message and code, and those of its cause.
 * The error itself may hold the request, and therefore the key.
 */
export function copyCause(thrown: unknown, apiKey: string): unknown {
  return copyOf(thrown, (text) => redactText(text, apiKey));
}

/** What the caller's schema threw. If it quotes a record that echoes the API key, it is a copy as {@link copyCause} makes it. */
export function causeOfSchema(thrown: unknown, apiKey: string): unknown {
  const forms = formsOf(apiKey);
  const texts = typeof thrown === 'string' ? [thrown] : [];
  for (let link = thrown; isError(link) && texts.length < 10; link = link.cause) {
    texts.push(`${link.message}\n${link.stack}`);
  }
  const quotesKey = texts.some((text) => forms.some((form) => text.includes(form)));
  return quotesKey ? copyCause(thrown, apiKey) : thrown;
}

function copyOf(thrown: unknown, redacted: (text: string) => string, depth = 1): unknown {
  const clear = (text: string) => redacted(text).slice(0, LONGEST);
  if (!isError(thrown)) return typeof thrown === 'string' ? clear(thrown) : undefined;

  const inner = depth < 4 ? copyOf(thrown.cause, redacted, depth + 1) : undefined;
  const copy = new Error(clear(thrown.message), inner === undefined ? undefined : { cause: inner });
  const { code } = thrown as { code?: unknown };
  Object.defineProperty(copy, 'name', { value: clear(thrown.name), configurable: true });
  // The stack begins with the message and may name files of the caller: the copy has none.
  Object.defineProperty(copy, 'stack', { value: `${copy.name}: ${copy.message}`, configurable: true });
  if (typeof code === 'string') Object.assign(copy, { code: clear(code) });
  if (typeof code === 'number') Object.assign(copy, { code });
  return copy;
}
