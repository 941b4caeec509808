import { createReadStream } from 'node:fs';

/** The lines of a file of NDJSON. Not by `readline`, which also ends a line at U+2028, which JSON may contain. */
export async function* linesOf(file: string): AsyncGenerator<string, void, undefined> {
  let rest = '';
  for await (const chunk of createReadStream(file, 'utf8')) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}
