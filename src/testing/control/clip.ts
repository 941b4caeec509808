/** Of a larger body only the beginning is kept. */
export const MOST_BYTES = 65_536;

/** All bodies that are kept: of a longer log, only the last requests have theirs. */
const MOST_BYTES_IN_ALL = 33_554_432;

/** A body in the log. */
export class Clip {
  /** The size of the whole body. */
  readonly bytes: number;
  #content: Uint8Array | undefined;

  constructor(bytes: number, content: Uint8Array | undefined) {
    this.bytes = bytes;
    this.#content = content;
  }

  drop(): void {
    this.#content = undefined;
  }

  /**
   * As JSON: itself if it is JSON, otherwise, or if only its beginning is kept, a string; null if there is none, or no
   * longer.
   */
  json(): string {
    if (this.#content === undefined) return 'null';
    const text = new TextDecoder().decode(this.#content);
    return this.#content.byteLength === this.bytes && isJson(text) ? text : JSON.stringify(text);
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Keeps the bodies of a log, and drops the oldest when they are too large together. */
export class ClipBudget {
  #kept: { readonly clip: Clip; readonly size: number }[] = [];
  #first = 0;
  #size = 0;

  clip(body: Uint8Array | undefined): Clip {
    if (body === undefined || body.byteLength === 0) return new Clip(0, undefined);
    // A copy: the memory of a whole body would stay in use for a part of it.
    const content = body.slice(0, MOST_BYTES);
    const clip = new Clip(body.byteLength, content);
    this.#kept.push({ clip, size: content.byteLength });
    this.#size += content.byteLength;
    this.#dropOldest();
    return clip;
  }

  clear(): void {
    this.#kept = [];
    this.#first = 0;
    this.#size = 0;
  }

  #dropOldest(): void {
    for (; this.#size > MOST_BYTES_IN_ALL; this.#first += 1) {
      const oldest = this.#kept[this.#first];
      oldest?.clip.drop();
      this.#size -= oldest?.size ?? 0;
    }
    // Not with every body, because removing the first one moves all others.
    if (this.#first <= this.#kept.length / 2) return;
    this.#kept = this.#kept.slice(this.#first);
    this.#first = 0;
  }
}
