const REDACTED = '[redacted]';

/** A copy of a JSON value in which no string, and no name of a member, contains the secret: a service may echo it. */
export function redact(value: unknown, secret: string): unknown {
  const forms = formsOf(secret);
  return clearTexts(value, (text) => withoutForms(text, forms));
}

export function redactText(text: string, secret: string): string {
  return withoutForms(text, formsOf(secret));
}

/** A shorter secret is some test's: it would be found in words that have nothing to do with it. */
const LEAST_LENGTH = 8;

/** A text that is not there to explain an error, such as a path or the name of a field: words, not echoes. */
export function redactOwnText(text: string, secret: string): string {
  return secret.length < LEAST_LENGTH ? text : redactText(text, secret);
}

/** A copy of a JSON value whose strings and names of members went through `clear`. */
export function clearTexts(value: unknown, clear: (text: string) => string, depth = 0): unknown {
  if (typeof value === 'string') return clear(value);
  if (typeof value !== 'object' || value === null) return value;
  // Nothing that explains an error lies this deep; the depth of a hostile body must not become our stack.
  if (depth > 20) return REDACTED;
  if (Array.isArray(value)) return value.map((item) => clearTexts(item, clear, depth + 1));

  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [clear(name), clearTexts(item, clear, depth + 1)]),
  );
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
