import type { Io } from '../io.ts';
import { Pending, type Sink } from './sink.ts';

/** Standard output. Nothing can be taken back there: after a crash the last lines may come twice. */
export class OutputSink implements Sink {
  readonly #write: (text: string) => Promise<void>;
  readonly #pending = new Pending();
  #bytes: number;

  constructor({ write, out }: Io, bytes: number) {
    this.#write = write ?? (async (text) => out(text.replace(/\n$/, '')));
    this.#bytes = bytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whoever reads is not made to wait. */
  get isDue(): boolean {
    return true;
  }

  add(lines: string): void {
    this.#pending.add(lines);
  }

  async commit(): Promise<void> {
    const text = this.#pending.take();
    if (text === '') return;
    await this.#write(text);
    this.#bytes += Buffer.byteLength(text);
  }

  async restart(): Promise<boolean> {
    return false;
  }

  async finish(): Promise<void> {}

  async discard(): Promise<void> {}

  async close(): Promise<void> {}
}
