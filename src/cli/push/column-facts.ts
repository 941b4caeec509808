import { type CsvRow, isEmpty } from './csv.ts';

/** What the first cells of a column say about all of them. */
export interface ColumnFacts {
  /** Whether its texts are filled up with blanks to one length. */
  readonly isPadded: boolean;
  /** Whether it has decimals, so that `12.0` may be one too. */
  readonly hasDecimals: boolean;
}

/** The facts of each column. A program that fills up one with blanks fills up all whose cells have one length. */
export function columnFacts(rows: readonly CsvRow[], count: number): readonly ColumnFacts[] {
  const columns = Array.from({ length: count }, (_, at) => {
    const cells = rows.flatMap(({ cells, quoted }) => {
      const text = cells[at];
      return text === undefined || isEmpty(text) ? [] : [{ text, isQuoted: quoted[at] === true }];
    });
    const [first] = cells;
    return {
      isEven: cells.every(({ text, isQuoted }) => {
        // A program that quotes blanks means them.
        return text.length === first?.text.length && !(isQuoted && text.endsWith(' '));
      }),
      hasBlanks: cells.some(({ text }) => text.endsWith('  ')),
      hasDecimals: cells.some(({ text }) => /^\s*-?\d+[.,](?!0\s*$)\d+\s*$/.test(text)),
    };
  });
  const isPaddedFile = columns.some(({ isEven, hasBlanks }) => isEven && hasBlanks);
  return columns.map(({ isEven, hasDecimals }) => ({ isPadded: isEven && isPaddedFile, hasDecimals }));
}
