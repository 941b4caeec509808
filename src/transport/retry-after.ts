const DELAY_SECONDS = /^\d+$/;
const MONTHS = 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec';
/** The three forms of RFC 9110, section 5.6.7: IMF-fixdate, RFC 850, asctime. */
const HTTP_DATES = [
  new RegExp(`^[A-Z][a-z]{2}, \\d{2} (?:${MONTHS}) \\d{4} \\d{2}:\\d{2}:\\d{2} GMT$`),
  new RegExp(`^[A-Z][a-z]{5,8}, \\d{2}-(?:${MONTHS})-\\d{2} \\d{2}:\\d{2}:\\d{2} GMT$`),
  new RegExp(`^[A-Z][a-z]{2} (?:${MONTHS}) [ \\d]\\d \\d{2}:\\d{2}:\\d{2} \\d{4}$`),
] as const;

/**
 * Retry-After in ms (RFC 9110, section 10.2.3): seconds, or an HTTP-date measured against the answer's own `Date`, so
 * that a wrong local clock does not count. Anything else is as good as absent: undefined.
 */
export function parseRetryAfter(value: string | null, date: string | null): number | undefined {
  if (value === null) return undefined;

  const text = value.trim();
  if (DELAY_SECONDS.test(text)) return Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER);

  const at = parseHttpDate(text);
  if (at === undefined) return undefined;
  return Math.max(0, at - (parseHttpDate(date?.trim() ?? '') ?? Date.now()));
}

/** An HTTP-date in ms since the epoch; undefined for anything else. */
export function parseHttpDate(text: string): number | undefined {
  if (!HTTP_DATES.some((form) => form.test(text))) return undefined;

  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(at) ? undefined : at;
}
