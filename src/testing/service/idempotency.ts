import { hashText } from '../data/dice.ts';
import type { ResolvedSandboxOptions } from '../resolve-options.ts';
import type { CompanyName } from '../store/company.ts';
import type { ServiceReply } from './message.ts';
import { Refusal } from './problem.ts';

/** A logical request: keys of two companies do not meet. */
export interface LogicalRequest {
  readonly company: CompanyName;
  readonly key: string;
  /** Tells bodies apart as values: white space and the order of fields do not make another request. */
  readonly body: string;
}

interface Remembered {
  readonly body: string;
  /** Makes the answer again; undefined while the first request runs. */
  readonly answer: (() => ServiceReply) | undefined;
  readonly at: number;
}

const nameOf = ({ company, key }: Pick<LogicalRequest, 'company' | 'key'>) => `${company}/${key}`;

/** What has been answered to which key (contract: Create a product, Purpose of Idempotency-Key). */
export class Idempotency {
  readonly #remembered = new Map<string, Remembered>();
  readonly #options: ResolvedSandboxOptions['idempotency'];

  constructor(options: ResolvedSandboxOptions['idempotency']) {
    this.#options = options;
  }

  /** What the first request of this key was answered; undefined where this is the first. Refuses with 409 or 422. */
  replay(request: LogicalRequest, now: number): ServiceReply | undefined {
    this.#forget(now);
    const first = this.#remembered.get(nameOf(request));
    if (first === undefined) return undefined;

    if (first.answer === undefined) {
      throw new Refusal('request_in_progress', 'Send it again once the first request has been answered.');
    }
    if (first.body !== request.body && this.#options.differentBody === 'reject') {
      const message = 'This key was used for another body.';
      throw new Refusal('validation_failed', message, {
        violations: [{ propertyPath: 'Idempotency-Key', message }],
      });
    }
    if (this.#options.replay === 'conflict') {
      throw new Refusal('request_in_progress', 'This key was used before.');
    }
    return first.answer();
  }

  /** Stores the response to a first request, as the function that writes it: the text of every response would be kept. */
  keep({ body, ...request }: LogicalRequest, answer: () => ServiceReply, at: number): void {
    this.#remembered.set(nameOf(request), { body, answer, at });
  }

  /** Marks a first request as running until the function returned is called. A later one gets 409 meanwhile. */
  running(request: LogicalRequest, now: number): () => void {
    const name = nameOf(request);
    if (this.#remembered.has(name)) return () => {};
    this.#remembered.set(name, { body: request.body, answer: undefined, at: now });
    return () => void this.#remembered.delete(name);
  }

  /** Insertion is in the order of time, so the old ones come first. */
  #forget(now: number): void {
    for (const [name, { at }] of this.#remembered) {
      if (now - at < this.#options.lifetimeMs) return;
      this.#remembered.delete(name);
    }
  }
}

/** A JSON value as text in which the order of object members does not matter. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** A short text that differs where two bodies do. */
export function fingerprint(body: unknown): string {
  const text = canonicalJson(body);
  return `${text.length}-${hashText(text)}-${hashText(`2${text}`)}`;
}
