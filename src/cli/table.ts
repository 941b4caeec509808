import Table from 'cli-table3';

/** How a table is laid out. */
export interface TableLayout {
  readonly head: readonly string[];
  /** Characters in a line; undefined where lines may be of any length. */
  readonly columns: number | undefined;
}

/** Nothing but two blanks between columns: readable on paper, in a ticket, and to `awk`. */
const CHARS = Object.fromEntries(
  'top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid'
    .split(' ')
    .map((name) => [name, '']),
);
const GAP = 2;

/** Rows as the lines of a table; the last column is wrapped where the terminal is too narrow. */
export function tableLines(rows: readonly (readonly string[])[], { head, columns }: TableLayout): string[] {
  const widths = head.map((title, at) =>
    Math.max(...[title, ...rows.map((row) => row[at] ?? '')].map(({ length }) => length)),
  );
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP, 0);
  const last = widths.at(-1) ?? 0;
  const wrapped = columns !== undefined && before + last > columns && columns - before >= 20;
  const table = new Table({
    head: [...head],
    chars: { ...CHARS, middle: ' '.repeat(GAP) },
    colWidths: wrapped ? [...widths.slice(0, -1), columns - before] : widths,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
    wordWrap: true,
  });
  table.push(...rows.map((row) => [...row]));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
}
