/**
 * Rows as the lines of a table: readable in a ticket, and by `awk`. The last column wraps if `columns`, the width of the
 * terminal, is too small.
 */
export function tableLines(
  rows: readonly (readonly string[])[],
  { head, columns = Number.POSITIVE_INFINITY }: { head: readonly string[]; columns: number | undefined },
): string[] {
  const widths = head
    .slice(0, -1)
    .map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const before = widths.reduce((sum, width) => sum + width + GAP.length, 0);
  // A narrower column would be harder to read than a line that the terminal breaks.
  const room = columns - before >= 20 ? columns - before : Number.POSITIVE_INFINITY;
  return [head, ...rows].flatMap((row) => {
    const first = widths.map((width, at) => (row[at] ?? '').padEnd(width) + GAP).join('');
    return wrapped(row.at(-1) ?? '', room).map((text, index) =>
      `${index === 0 ? first : ' '.repeat(before)}${text}`.trimEnd(),
    );
  });
}

const GAP = '  ';

/** The lines of a text, broken between words; a longer word is cut. */
export function wrapped(text: string, room: number): string[] {
  if (text.length <= room) return [text];
  const space = text.lastIndexOf(' ', room);
  const end = space > 0 ? space : room;
  return [text.slice(0, end), ...wrapped(text.slice(end).trimStart(), room)];
}
