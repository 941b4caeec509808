import { parseExactly } from './exact-json.ts';

/** A file that cannot be read as what it should be. */
export class FileProblem extends Error {
  /** What to do, if that is not obvious. */
  readonly remedy: string | undefined;
  /** What to choose from, each on a line. */
  readonly choices: readonly string[];

  constructor(message: string, remedy?: string, choices: readonly string[] = []) {
    super(message);
    this.remedy = remedy;
    this.choices = choices;
  }
}

/** It has bytes that are not UTF-8: read as UTF-8, they would be lost. */
export class NotUtf8 extends FileProblem {
  constructor() {
    super('it is not UTF-8.');
  }
}

/** An object of an NDJSON file, with its text and the number of its line. */
export interface NdjsonRow {
  readonly line: number;
  readonly text: string;
  readonly row: Readonly<Record<string, unknown>>;
  /** A number in it that has more digits than JavaScript keeps. */
  readonly lossy: string | undefined;
}

/** Decodes UTF-8 in pieces, without its byte order mark. */
export class Utf8 {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });

  /** The text of the next bytes; without bytes, the rest. */
  decode(bytes?: Uint8Array): string {
    try {
      return this.#decoder.decode(bytes, { stream: bytes !== undefined });
    } catch {
      throw new NotUtf8();
    }
  }
}

/** Reads NDJSON in pieces. Only `\n` ends a line: JSON may contain U+2028, at which `readline` ends one too. */
export class Ndjson {
  readonly #utf8 = new Utf8();
  #rest = '';
  #line = 0;

  /** The objects on the lines that end in the next bytes; without bytes, that of the last line. */
  *read(bytes?: Uint8Array): Generator<NdjsonRow, void, undefined> {
    const lines = `${this.#rest}${this.#utf8.decode(bytes)}`.split('\n');
    this.#rest = (bytes && lines.pop()) ?? '';
    for (const text of lines) {
      this.#line += 1;
      if (text.trim() !== '') yield objectOf(text, this.#line);
    }
  }
}

/** Without the message of the parser, which quotes the data. */
function objectOf(text: string, line: number): NdjsonRow {
  try {
    const { value, lossy } = parseExactly(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { line, text, row: value as NdjsonRow['row'], lossy };
  } catch {
    // Below.
  }
  throw new FileProblem(`line ${line} is not a JSON object.`);
}

/** The objects of a whole NDJSON file. */
export async function* ndjsonRows(
  file: AsyncIterable<Uint8Array>,
): AsyncGenerator<NdjsonRow, void, undefined> {
  const lines = new Ndjson();
  for await (const bytes of file) yield* lines.read(bytes);
  yield* lines.read();
}
