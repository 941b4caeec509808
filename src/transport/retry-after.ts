/**
 * Retry-After in ms (RFC 9110, section 10.2.3): seconds, or an HTTP-date measured against the response's own `Date`, so
 * that a wrong local clock does not count. Anything else counts as absent: undefined.
 */
export function parseRetryAfter(value: string | null, date: string | null): number | undefined {
  if (value === null) return undefined;
  const text = value.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER);

  const at = parseHttpDate(text);
  if (at === undefined) return undefined;
  return Math.max(0, at - (parseHttpDate(date ?? '') ?? Date.now()));
}

/** The last date that was parsed: responses of the same second have the same one, and parsing takes as long as the headers. */
let last: { readonly text: string; readonly at: number | undefined } = { text: '', at: undefined };

/** An HTTP-date in ms since the epoch, with GMT or +0000; undefined for anything else, such as 30 February. */
export function parseHttpDate(text: string): number | undefined {
  if (text !== last.text) last = { text, at: parsed(text) };
  return last.at;
}

function parsed(text: string): number | undefined {
  const fixdate = text.trim().replace(/\+0000$/, 'GMT');
  const at = Date.parse(fixdate);
  if (Number.isNaN(at)) return undefined;
  // Some services have the weekday wrong.
  return new Date(at).toUTCString().slice(3) === fixdate.slice(3) ? at : undefined;
}
