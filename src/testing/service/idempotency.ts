import { hashText } from '../data/seeded-random.ts';
import type { ServiceResponse } from '../message.ts';
import type { ResolvedSandboxOptions } from '../options.ts';
import type { CompanyName } from '../store/company.ts';
import { ProblemError } from './problem.ts';

/** A create with its Idempotency-Key. The keys of two companies are independent. */
export interface KeyedCreate {
  readonly company: CompanyName;
  readonly key: string;
  /** Identifies the body as a value: white space and the order of fields make no difference. */
  readonly body: string;
}

/** How long a key is stored. */
const LIFETIME_MS = 86_400_000;

interface StoredCreate {
  readonly body: string;
  /** Writes the response; undefined while the first request runs. */
  readonly response: (() => ServiceResponse) | undefined;
  readonly at: number;
}

/** The responses stored for Idempotency-Keys (specification: Create a product, Purpose of `Idempotency-Key`). */
export class Idempotency {
  readonly #stored = new Map<string, StoredCreate>();
  readonly #options: ResolvedSandboxOptions['idempotency'];

  constructor(options: ResolvedSandboxOptions['idempotency']) {
    this.#options = options;
  }

  /** The response to the first request with this key; undefined if this is the first. Throws for a 409 or a 422. */
  replay(create: KeyedCreate, now: number): ServiceResponse | undefined {
    this.#removeExpired(now);
    const first = this.#find(create, now);
    if (first === undefined) return undefined;

    if (first.response === undefined) {
      throw new ProblemError('request_in_progress', 'Send it again after the response to the first request.');
    }
    if (first.body !== create.body && this.#options.differentBody === 'reject') {
      const message = 'This key was used for another body.';
      throw new ProblemError('validation_failed', message, {
        violations: [{ propertyPath: 'Idempotency-Key', message }],
      });
    }
    if (this.#options.replay === 'conflict') {
      throw new ProblemError('request_in_progress', 'This key was used before.');
    }
    return first.response();
  }

  /** Stores the response to a first request, as the function that writes it: the text would take more memory. */
  store(create: KeyedCreate, response: () => ServiceResponse, now: number): void {
    this.#stored.set(this.#nameOf(create), { body: create.body, response, at: now });
  }

  /** Marks a first request as running until the caller calls the function returned; with `over` also a finished one. */
  start(create: KeyedCreate, now: number, { over = false } = {}): () => void {
    const name = this.#nameOf(create);
    if (!over && this.#find(create, now) !== undefined) return () => {};
    this.#stored.set(name, { body: create.body, response: undefined, at: now });
    return () => void this.#stored.delete(name);
  }

  #nameOf({ company, key }: KeyedCreate): string {
    return `${company}/${key}`;
  }

  #find(create: KeyedCreate, now: number): StoredCreate | undefined {
    const stored = this.#stored.get(this.#nameOf(create));
    return stored !== undefined && now - stored.at < LIFETIME_MS ? stored : undefined;
  }

  /** Frees the memory. The oldest come first, unless the clock was turned back or a key was marked later. */
  #removeExpired(now: number): void {
    for (const [name, { at }] of this.#stored) {
      if (now - at < LIFETIME_MS) return;
      this.#stored.delete(name);
    }
  }
}

/** A short string that differs for different JSON values. */
export function fingerprint(body: unknown): string {
  const text = JSON.stringify(body, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return `${text.length}-${hashText(text)}-${hashText(`2${text}`)}`;
}
