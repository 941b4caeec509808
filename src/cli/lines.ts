import { createReadStream } from 'node:fs';

/** The path of a file, or its bytes, such as standard input. */
export type FileSource = string | AsyncIterable<Uint8Array>;

/** The file has bytes that are not UTF-8: read as UTF-8, they would be lost. */
export class EncodingError extends Error {}

/** The text of a file in pieces, with its byte order mark. Throws an EncodingError unless it is UTF-8. */
export async function* textOf(file: FileSource): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const decode = (chunk?: Uint8Array) => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch {
      throw new EncodingError('it is not UTF-8.');
    }
  };
  const bytes = typeof file === 'string' ? createReadStream(file) : file;
  for await (const chunk of bytes) yield decode(chunk as Uint8Array);
  yield decode();
}

/** The lines of a file of NDJSON. Not by `readline`, which also ends a line at U+2028, which JSON may contain. */
export async function* linesOf(file: FileSource): AsyncGenerator<string, void, undefined> {
  let rest = '';
  for await (const chunk of textOf(file)) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}
