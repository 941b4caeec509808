import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The text of a file of the repository. */
export const read = (path: string): string => readFileSync(`${root}${path}`, 'utf8');

/** A fenced TypeScript block of a Markdown file, as a file of its own. */
export interface CodeBlock {
  /** The line of the fence in the Markdown file. */
  readonly line: number;
  readonly code: string;
  readonly file: string;
}

/**
 * Writes each TypeScript block of a Markdown file out, so that it can be run as it stands. Tests that run the same file
 * need folders of their own.
 */
export function writeCodeBlocks(markdownFile: string, name = markdownFile.replace(/\W/g, '-')): CodeBlock[] {
  const text = read(markdownFile);
  const folder = `${root}test/package/docs/.generated/${name}/`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => {
    const line = text.slice(0, match.index).split('\n').length;
    const file = `${folder}line-${line}.ts`;
    // Every block is a module of its own, also one that imports nothing.
    writeFileSync(file, `${match[1]}\nexport {};\n`);
    return { line, code: match[1] ?? '', file };
  });
}

/** The cells of a Markdown table, found by the text of its first header cell. */
export function tableRows(markdownFile: string, firstHeader: string): string[][] {
  const lines = read(markdownFile).split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${firstHeader} |`));
  if (start < 0) throw new Error(`No table that begins with ${firstHeader} in ${markdownFile}.`);

  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'));
  return lines.slice(start + 2, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** The names in back-ticks of a cell. */
export function namesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
}
