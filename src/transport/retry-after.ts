const DELAY_SECONDS = /^\d+$/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = '(?<hour>\\d{2}):(?<minute>\\d{2}):(?<second>\\d{2})';
/** The three forms of RFC 9110, section 5.6.7: IMF-fixdate, RFC 850, asctime. */
const HTTP_DATES = [
  new RegExp(`^[A-Z][a-z]{2}, (?<day>\\d{2}) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`),
  new RegExp(`^[A-Z][a-z]{5,8}, (?<day>\\d{2})-${MONTH}-(?<year>\\d{2}) ${TIME} GMT$`),
  new RegExp(`^[A-Z][a-z]{2} ${MONTH} (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`),
] as const;

/**
 * Retry-After in ms (RFC 9110, section 10.2.3): seconds, or an HTTP-date measured against the response's own `Date`, so
 * that a wrong local clock does not count. Anything else counts as absent: undefined.
 */
export function parseRetryAfter(value: string | null, date: string | null): number | undefined {
  if (value === null) return undefined;

  const text = value.trim();
  if (DELAY_SECONDS.test(text)) return Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER);

  const at = parseHttpDate(text);
  if (at === undefined) return undefined;
  return Math.max(0, at - (parseHttpDate(date ?? '') ?? Date.now()));
}

/** An HTTP-date in ms since the epoch; undefined for anything else, such as a day that the calendar does not have. */
export function parseHttpDate(text: string): number | undefined {
  const trimmed = text.trim();
  const [imf, rfc850, asctime] = HTTP_DATES;
  const parts = (imf.exec(trimmed) ?? rfc850.exec(trimmed) ?? asctime.exec(trimmed))?.groups;
  if (parts === undefined) return undefined;

  const [day, hour = 24, minute = 60, second = 60] = [parts.day, parts.hour, parts.minute, parts.second].map(
    Number,
  );
  const year = fullYear(parts.year ?? '');
  const date = new Date(Date.UTC(year, MONTHS.indexOf(parts.month ?? ''), day, hour, minute, second));
  // Date carries over: 30 February becomes 2 March. The years 0 to 99 become 1900 to 1999.
  const isReal = date.getUTCFullYear() === year && date.getUTCDate() === day;
  return isReal && hour < 24 && minute < 60 && second < 60 ? date.getTime() : undefined;
}

/** A year of two digits is the one within 50 years of now (RFC 9110, section 5.6.7). */
function fullYear(year: string): number {
  if (year.length === 4) return Number(year);

  const now = new Date().getUTCFullYear();
  const inThisCentury = now - (now % 100) + Number(year);
  if (inThisCentury > now + 50) return inThisCentury - 100;
  return inThisCentury < now - 50 ? inThisCentury + 100 : inThisCentury;
}
