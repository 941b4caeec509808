import { ConnectionError } from '../errors/connection-error.ts';
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
    const transport = this.#transport ?? (await this.#loadedFor(request));
    return transport.send(request);
  }

  /** Within the limits of the call: bundlers make a file of the transport, which a browser may fail to get. */
  async #loadedFor<T>(request: ApiRequest<T>): Promise<Transport> {
    const { method, template, idempotencyKey, settings, options } = request;
    try {
      return await withinLimits(() => this.#load(), {
        // The transport looks at the signal, and tells how such a call ended.
        signal: undefined,
        timeoutMs: settings.timeoutMs,
        deadlineAt: Date.now() + settings.deadlineMs,
        faultAtTimeout: () => 'unsent',
      });
    } catch (error) {
      if (options.signal?.aborted) throw options.signal.reason;
      // The template, for an id could be a key by mistake, and the key is not known yet.
      const facts = { method, path: template, idempotencyKey, retryable: true };
      if (error instanceof Failure) throw error.toError(facts);
      throw new ConnectionError(
        'The part of this package that sends requests could not be loaded. Nothing was sent: try again.',
        facts,
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
