import { ConnectionError } from '../errors/connection-error.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import type { RateLimit } from '../schemas/rate-limit.ts';
import { Failure } from './failure.ts';
import { withinLimits } from './limits.ts';
import type { Answer, ApiRequest, Transport } from './request.ts';
import type { TransportConfig } from './transport.ts';

/** A transport that loads with its first call: a program that imports this package need not send anything. */
export function createTransport(config: TransportConfig): Transport {
  return new LazyTransport(config);
}

class LazyTransport implements Transport {
  readonly #config: TransportConfig;
  #transport: Transport | undefined;
  #loading: Promise<Transport> | undefined;

  constructor(config: TransportConfig) {
    this.#config = config;
  }

  get rateLimit(): RateLimit | undefined {
    return this.#transport?.rateLimit;
  }

  async send<T>(request: ApiRequest<T>): Promise<Answer<T>> {
    if (this.#transport !== undefined) return this.#transport.send(request);

    const deadlineAt = monotonicMs() + request.settings.deadlineMs;
    const transport = await this.#loadedFor(request, deadlineAt);
    const deadlineMs = Math.max(1, deadlineAt - monotonicMs());
    return transport.send({ ...request, settings: { ...request.settings, deadlineMs } });
  }

  /** Within the limits of the call: bundlers make a file of the transport, which a browser may fail to get. */
  async #loadedFor<T>(request: ApiRequest<T>, deadlineAt: number): Promise<Transport> {
    const { method, template, idempotencyKey, settings, options } = request;
    const { signal } = options;
    try {
      return await withinLimits(() => this.#load(), {
        // A call that was stopped before it began is for the transport to conclude: it tells how calls end.
        signal: signal?.aborted ? undefined : signal,
        timeoutMs: settings.timeoutMs,
        deadlineAt,
        onTimeout: () => 'unsent',
      });
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      // The template, for an id could be a key by mistake, and the key is not known yet.
      const facts = { method, path: template, idempotencyKey, retryable: true };
      if (error instanceof Failure) throw error.toError(facts);
      throw new ConnectionError(
        'The part of this package that sends requests could not be loaded; nothing was sent. Try again; should it stay so, reload the page or install the package anew.',
        facts,
        { reason: error instanceof Error ? error.name : undefined },
      );
    }
  }

  /** One transport for all calls; where loading it failed, the next call tries again. */
  #load(): Promise<Transport> {
    this.#loading ??= import('./transport.ts').then(
      ({ HttpTransport }) => {
        this.#transport = new HttpTransport(this.#config);
        return this.#transport;
      },
      (error: unknown) => {
        this.#loading = undefined;
        throw error;
      },
    );
    return this.#loading;
  }
}
