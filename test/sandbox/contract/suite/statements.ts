/** One thing that the contract says: a sentence, a list item's sentence, or a row of a table. */
export interface Statement {
  /** The headings above it, joined by ` › `. */
  readonly section: string;
  readonly text: string;
}

const HEADING = /^(#{1,6}) (.*)$/;
const ITEM = /^(?:- |\d+\. )/;
const RULE = /^\|[-| :]+\|$/;

/** A sentence ends at a full stop before a capital, a number, a quotation or a code span. */
const sentences = (text: string) => text.split(/(?<=\.)\s+(?=[A-Z0-9`"])/).filter((part) => part !== '');

function cells(row: string): string {
  return row
    .split('|')
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '')
    .join(' | ');
}

/** Every statement of a Markdown document, in its order. The first row of a table is its head and states nothing. */
export function statementsOf(markdown: string): Statement[] {
  const headings: string[] = [];
  const statements: Statement[] = [];
  const lines = markdown.split('\n').map((line) => line.trim());
  for (const [i, line] of lines.entries()) {
    const heading = HEADING.exec(line);
    if (heading !== null) {
      const depth = heading[1]?.length ?? 1;
      headings.splice(depth - 1, headings.length, heading[2] ?? '');
      continue;
    }
    const isTableHead = RULE.test(lines[i + 1] ?? '');
    if (line === '' || RULE.test(line) || isTableHead) continue;

    const section = headings.slice(1).join(' › ');
    const texts = line.startsWith('|') ? [cells(line)] : sentences(line.replace(ITEM, ''));
    statements.push(...texts.map((text) => ({ section, text })));
  }
  return statements;
}
