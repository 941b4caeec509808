import type { ServiceReply } from './message.ts';

/** Pages kept for one sandbox. Thirty products are about 60 kB. */
const KEPT_PAGES = 64;

/** Answers to list requests that are still true: a client that asks for the same page again is not made to wait for its making. */
export class PageCache {
  readonly #pages = new Map<string, { version: number; reply: ServiceReply }>();

  /** The page kept under a key, or the one that `make` makes. `version` is the state of the collection. */
  get(key: string, version: number, make: () => ServiceReply): ServiceReply {
    const kept = this.#pages.get(key);
    if (kept?.version === version) return kept.reply;

    const reply = make();
    const oldest = this.#pages.keys().next();
    if (this.#pages.size >= KEPT_PAGES && oldest.done !== true) this.#pages.delete(oldest.value);
    this.#pages.set(key, { version, reply });
    return reply;
  }
}
