/** The offset at the end of a string such as `2026-01-31T12:00:00-05:00`, in minutes; undefined if there is none. */
export function parseUtcOffset(text: string): number | undefined {
  const match = /([+-])(\d\d):?([0-5]\d)$/.exec(text);
  if (match === null) return undefined;

  const minutes = Number(match[2]) * 60 + Number(match[3]);
  return match[1] === '-' ? 0 - minutes : minutes;
}

/** An offset in minutes as ISO 8601 has it: `-05:00`. */
export function formatUtcOffset(minutes: number): string {
  const digits = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${digits(size / 60)}:${digits(size % 60)}`;
}
