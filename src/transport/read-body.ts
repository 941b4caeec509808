/**
 * The body of a response, read as a stream under a cap on its decoded size: 306 kB of gzip can hold 300 MB of JSON.
 */
export class Body {
  readonly received: Uint8Array[] = [];
  readonly #stream: ReadableStream<Uint8Array> | null;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;

  constructor({ body }: Response) {
    this.#stream = body;
  }

  /** The whole body; undefined if it is larger. Rejects with whatever the stream fails with. */
  async bytes(maxBytes: number): Promise<Uint8Array | undefined> {
    if (this.#stream === null) return new Uint8Array(0);

    const { received } = this;
    const reader = this.#stream.getReader();
    this.#reader = reader;
    let size = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done)
        return received.length === 1 && received[0] !== undefined ? received[0] : concat(received, size);

      // The caller's own `fetch` may return a stream of something else, such as strings.
      if (!ArrayBuffer.isView(value)) throw new TypeError();
      size += value.byteLength;
      received.push(value);
      if (size > maxBytes) {
        this.cancel();
        return undefined;
      }
    }
  }

  /** Stops reading and closes the connection. */
  cancel(): void {
    // The stream may be one of the caller's `fetch`, whose `cancel` throws.
    const cancel = async () => (this.#reader ?? this.#stream)?.cancel();
    // Not awaited: a stream that never confirms its cancellation must not hold up the error.
    cancel().catch(() => {});
  }
}

function concat(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return whole;
}
