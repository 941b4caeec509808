/**
 * Retry-After in ms (RFC 9110, section 10.2.3): seconds, or an HTTP-date measured against the response's own `Date`, so
 * that a wrong local clock does not count. Anything else counts as absent: undefined.
 */
export function parseRetryAfter(value: string | null, date: string | null): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER);

  const at = parseHttpDate(text);
  if (at === undefined) return undefined;
  return Math.max(0, at - (parseHttpDate(date ?? '') ?? Date.now()));
}

/** An HTTP-date in ms since the epoch, with GMT or +0000; undefined for anything else, such as 30 February. */
export function parseHttpDate(text: string): number | undefined {
  const fixdate = text.trim().replace(/\+0000$/, 'GMT');
  const at = Date.parse(fixdate);
  if (Number.isNaN(at)) return undefined;
  // Some services have the weekday wrong.
  return new Date(at).toUTCString().slice(3) === fixdate.slice(3) ? at : undefined;
}
