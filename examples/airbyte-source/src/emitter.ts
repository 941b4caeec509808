import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** A collection, as platforms of either kind know it. */
export interface Stream {
  readonly name: string;
  readonly jsonSchema: JsonSchema;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

/** What a read tells while it goes on. Airbyte and Singer differ in how they say it. */
export interface Emitter {
  begin(stream: Stream): Promise<void>;
  records(stream: Stream, records: readonly { id: string }[]): Promise<void>;
  /** How far the stream is, once everything that was told before is taken in. */
  checkpoint(stream: Stream, checkpoint: string): Promise<void>;
  /** The stream waits for the budget of its key. */
  waiting(stream: Stream, until: Date | undefined): Promise<void>;
  end(stream: Stream): Promise<void>;
  fail(stream: Stream, error: unknown): Promise<void>;
}

/** Writes one JSON document a line, no faster than it is read. */
export class Lines {
  readonly #out: Writable;

  constructor(out: Writable) {
    this.#out = out;
  }

  async write(document: object): Promise<void> {
    if (this.#out.write(`${JSON.stringify(document)}\n`)) return;
    await once(this.#out, 'drain');
  }
}
