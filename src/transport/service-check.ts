import { withTimeout } from '../internal/with-timeout.ts';
import { CallStopped } from './call-options.ts';
import { type CheckedCall, collectionOf, type Transport } from './request.ts';

/**
 * Finds out whether the service is down or one request fails: by one list request of another collection. That other calls
 * have succeeded since the failing one began does not replace it: the outage may have begun after them, and a response
 * such as 401 or 404 need not have used the database. A push would report a row as failed that only met an outage.
 */
export class ServiceCheck {
  readonly #send: Transport['send'];
  readonly #collections: readonly string[];
  /** The collections whose lists got a response below 500, the latest last. */
  readonly #responsive = new Set<string>();
  #pending: Promise<boolean> | undefined;

  /** `collections`: two of the service. One is listed if the other fails, and no list has succeeded yet. */
  constructor(send: Transport['send'], collections: readonly string[]) {
    this.#send = send;
    this.#collections = collections;
  }

  /** The list of a collection got a response with this status. */
  listed(collection: string, status: number): void {
    this.#responsive.delete(collection);
    if (status < 500) this.#responsive.add(collection);
  }

  /** Rejects only with the reason of the call's signal. */
  async isDown(call: CheckedCall): Promise<boolean> {
    const wait = { signal: call.options.signal, ms: Number.POSITIVE_INFINITY, onTimeout: () => new Error() };
    for (;;) {
      const earlier = this.#pending;
      this.#pending ??= this.#request(call).finally(() => {
        this.#pending = undefined;
      });
      const pending = this.#pending;
      const isDown = await withTimeout(() => pending, wait);
      // A request that was sent before this call failed may have been the last one that succeeded.
      if (isDown || earlier === undefined) return isDown;
    }
  }

  /** Any status below 500 shows that the service works, even if it rejects the request. */
  async #request({ template, settings, options: { headers, signal } }: CheckedCall): Promise<boolean> {
    const collection = collectionOf({ template });
    const isOther = (name: string) => name !== collection;
    const other = [...this.#responsive].findLast(isOther) ?? this.#collections.find(isOther) ?? collection;
    let status: number | undefined;
    const request = {
      method: 'GET',
      path: [other],
      template: `/${other}`,
      expected: { kind: 'nothing', value: undefined },
      settings: { ...settings, maxOutageMs: 0, retry: { ...settings.retry, maxAttempts: 1 } },
      options: {
        headers,
        signal,
        onResponse: (response: { status: number }) => {
          status = response.status;
        },
      },
    } as const;
    const failure = await this.#send(request).catch((error: unknown) => error);
    // Not sent, so it shows nothing.
    if (failure instanceof CallStopped) return false;
    return status === undefined || status >= 500;
  }
}
