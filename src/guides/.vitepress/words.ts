import { readdirSync, readFileSync } from 'node:fs';

/** Pages that are written by a test from the doc comments of the source. */
const GENERATED = ['sandbox-options.md', 'options.md'];

const countWords = (text: string) => text.match(/\S*[\p{L}\p{N}]\S*/gu)?.length ?? 0;

/** The words of the guides in one line: prose with its tables, generated pages, and code. */
export function wordsOfGuides(folder: URL): string {
  let [prose, generated, code] = [0, 0, 0];
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.md'))) {
    const text = readFileSync(new URL(file, folder), 'utf8').replace(/^---\n.*?^---\n/ms, '');
    const outside = text.replace(/^( *)```[^\n]*\n(.*?)^\1```$/gms, (_block, _indent, inside: string) => {
      code += countWords(inside);
      return '';
    });
    if (GENERATED.includes(file)) generated += countWords(outside);
    else prose += countWords(outside);
  }
  return `words of the guides: ${prose} written, ${generated} generated, ${code} in code blocks`;
}
