import type { Emitter, Lines, Stream } from './emitter.ts';

/** The value of a Singer state: how far each stream is. */
export interface SingerState {
  readonly bookmarks: Readonly<Record<string, { readonly checkpoint: string }>>;
}

/** Messages of the Singer specification. A state is that of all streams at once. */
export class SingerMessages implements Emitter {
  readonly #lines: Lines;
  #bookmarks: SingerState['bookmarks'];

  constructor(lines: Lines, { bookmarks }: SingerState) {
    this.#lines = lines;
    this.#bookmarks = bookmarks;
  }

  async begin({ name, jsonSchema }: Stream): Promise<void> {
    await this.#lines.write({ type: 'SCHEMA', stream: name, schema: jsonSchema, key_properties: ['id'] });
  }

  async records({ name }: Stream, records: readonly { id: string }[]): Promise<void> {
    const time_extracted = new Date().toISOString();
    for (const record of records) {
      await this.#lines.write({ type: 'RECORD', stream: name, record, time_extracted });
    }
  }

  async checkpoint({ name }: Stream, checkpoint: string): Promise<void> {
    this.#bookmarks = { ...this.#bookmarks, [name]: { checkpoint } };
    await this.#lines.write({ type: 'STATE', value: { bookmarks: this.#bookmarks } satisfies SingerState });
  }

  async waiting(): Promise<void> {}

  async end(): Promise<void> {}

  /** Singer has no message for it: a tap says it on stderr and ends with an exit code. */
  async fail({ name }: Stream, error: unknown): Promise<void> {
    console.error(`${name}: ${error instanceof Error ? error.message : error}`);
  }
}
