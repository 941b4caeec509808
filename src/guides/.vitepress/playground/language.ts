import LanguageWorker from './language-worker.ts?worker';
import type { LanguageRequest, LanguageResponses } from './messages.ts';

/** The language service, in a worker that lives as long as the page. */
export class Language {
  readonly #worker = new LanguageWorker();
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  #asked = 0;

  constructor() {
    this.#worker.addEventListener('message', ({ data }: MessageEvent) => {
      const { id, result, error } = data as { id: number; result?: unknown; error?: string };
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(result);
      else waiting?.reject(new Error(error));
    });
  }

  ask<Kind extends LanguageRequest['kind']>(
    request: Extract<LanguageRequest, { kind: Kind }>,
  ): Promise<LanguageResponses[Kind]> {
    this.#asked += 1;
    const id = this.#asked;
    this.#worker.postMessage({ ...request, id });
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: (value) => resolve(value as LanguageResponses[Kind]), reject });
    });
  }

  close(): void {
    this.#worker.terminate();
  }
}
