import { type CsvRow, isEmpty } from './csv.ts';

/** What the first cells of a column say about all of them. */
export interface ColumnFacts {
  /** Whether its texts are filled up with blanks to one length. */
  readonly isPadded: boolean;
  /** Whether it has decimals, so that `12.0` may be one too. */
  readonly hasDecimals: boolean;
}

export function columnFacts(rows: readonly CsvRow[], at: number): ColumnFacts {
  const cells = rows.flatMap(({ cells, quoted }) => {
    const text = cells[at];
    return text === undefined || isEmpty(text) ? [] : [{ text, isQuoted: quoted[at] === true }];
  });
  const [first] = cells;
  return {
    // A program that quotes blanks means them.
    isPadded:
      cells.some(({ text }) => text.endsWith('  ')) &&
      cells.every(({ text, isQuoted }) => {
        return text.length === first?.text.length && !(isQuoted && text.endsWith(' '));
      }),
    hasDecimals: cells.some(({ text }) => /^\s*-?\d+[.,](?!0\s*$)\d+\s*$/.test(text)),
  };
}
