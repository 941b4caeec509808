/** More bytes than allowed. Internal. */
export class BodyTooLarge extends Error {}

/**
 * The whole body under a cap on its decoded size: 306 kB of gzip can hold 300 MB of JSON. Stops reading at the cap
 * and closes the connection. Rejects with BodyTooLarge, or with whatever the stream fails with; `chunks` then holds what
 * arrived before.
 */
export async function readBody(
  response: Response,
  maxBytes: number,
  chunks: Uint8Array[] = [],
): Promise<Uint8Array> {
  if (response.body === null) return new Uint8Array(0);

  const reader = response.body.getReader();
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : concat(chunks, size);

    // The caller's own `fetch` may return a stream of something else, such as strings.
    if (!ArrayBuffer.isView(value)) throw new TypeError();
    size += value.byteLength;
    chunks.push(value);
    if (size > maxBytes) {
      // Not awaited: a stream that never confirms its cancellation must not hold up the error.
      reader.cancel().catch(() => {});
      throw new BodyTooLarge();
    }
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
