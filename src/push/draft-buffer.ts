// The drafts of all rows as JSON, in a few buffers: as strings, the garbage collector would copy each of them several
// times, and reserve twice the memory for that.

const BUFFER_BYTES = 2 ** 20;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class DraftBuffer {
  readonly #buffers: Uint8Array[] = [];
  /** Where the last buffer is free. */
  #end = BUFFER_BYTES;

  /** Keeps a draft, and returns its position. */
  add(json: string): number {
    // UTF-8 needs at most three bytes for a UTF-16 unit. A zero byte, which JSON never has, ends each draft.
    const bytes = 3 * json.length + 1;
    if (this.#end + bytes > BUFFER_BYTES) {
      this.#buffers.push(new Uint8Array(Math.max(BUFFER_BYTES, bytes)));
      this.#end = 0;
    }
    const last = this.#buffers.length - 1;
    const position = last * BUFFER_BYTES + this.#end;
    const { written } = encoder.encodeInto(json, (this.#buffers[last] as Uint8Array).subarray(this.#end));
    this.#end += written + 1;
    return position;
  }

  /** The draft at a position. */
  at(position: number): string {
    const buffer = this.#buffers[Math.floor(position / BUFFER_BYTES)] as Uint8Array;
    const start = position % BUFFER_BYTES;
    return decoder.decode(buffer.subarray(start, buffer.indexOf(0, start)));
  }
}
