import {
  type Client,
  type CreateOptions,
  createClient,
  type FetchFunction,
  isAccountingError,
  type ProductDraft,
  type ProductPatch,
} from 'accounting-data-sdk';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { SeededRandom } from '../../../support/seeded-random.ts';
import { runToEnd } from '../../../support/virtual-clock.ts';
import { History } from './history.ts';
import { clientOptions, faultsOf, sandboxOptions } from './random-options.ts';

/** The writes that the callers of a history use. */
export type Writer = Pick<Client['products'], 'create' | 'update' | 'delete'>;

/** The client that is judged, or one made worse on purpose. */
export interface Subject {
  /** Stands between the client and the service. */
  readonly fetch?: ((inner: FetchFunction, random: SeededRandom) => FetchFunction) | undefined;
  /** Stands between the callers and the client. */
  readonly writer?: ((inner: Writer) => Writer) | undefined;
  /** Names the create that is repeated after an error: a caller who forgets the key makes another one. */
  readonly forgetsKeys?: boolean | undefined;
}

/** Several callers write to the same sandbox concurrently, under faults, until every call has ended. */
export async function play(seed: number, subject: Subject = {}): Promise<History> {
  const random = new SeededRandom(seed);
  const sandbox = createSandbox({ seed, unknownFields: 'store', ...sandboxOptions(random) });
  const history = new History(sandbox);
  for (const { fault, probability } of faultsOf(random)) sandbox.faults.add(fault, { probability });
  const writer = writerOf(sandbox, random, subject);
  const callers = Array.from({ length: random.int(1, 4) }, (_, n) =>
    new Caller(history, writer, { random: new SeededRandom(seed * 8 + n + 1), subject }).write(),
  );
  await runToEnd(Promise.all(callers));
  return history;
}

function writerOf(sandbox: Sandbox, random: SeededRandom, { fetch, writer }: Subject): Writer {
  const { products } = createClient({
    ...sandbox.clientOptions,
    ...clientOptions(random),
    fetch: fetch?.(sandbox.fetch, random) ?? sandbox.fetch,
  });
  return writer?.(products) ?? products;
}

const SHARED_FIELDS = ['name', 'salePrice', 'stockQuantity', 'isInactive'] as const;

class Caller {
  readonly #history: History;
  readonly #writer: Writer;
  readonly #random: SeededRandom;
  readonly #subject: Subject;

  constructor(
    history: History,
    writer: Writer,
    { random, subject }: { random: SeededRandom; subject: Subject },
  ) {
    this.#history = history;
    this.#writer = writer;
    this.#random = random;
    this.#subject = subject;
  }

  async write(): Promise<void> {
    for (let steps = this.#random.int(2, 6); steps > 0; steps -= 1) {
      await this.#pause(3_000);
      const choice = this.#random.next();
      if (choice < 0.5) await this.#create();
      else if (choice < 0.8) await this.#update();
      else await this.#delete();
    }
  }

  #pause(mostMs: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, this.#random.int(0, mostMs)));
  }

  /** One intended create; at times sent twice at once, and at times again after an error, always under its key. */
  async #create(): Promise<void> {
    const random = this.#random;
    const name = this.#history.newName();
    const draft = { ...this.#values(), productNumber: name };
    const idempotencyKey = random.chance(0.5) ? `order:${name}` : undefined;
    const times = idempotencyKey !== undefined && random.chance(0.2) ? 2 : 1;
    const keys = await Promise.all(
      Array.from({ length: times }, () => this.#send(name, draft, { idempotencyKey })),
    );
    for (const key of keys) {
      if (key === undefined || !random.chance(0.7)) continue;
      await this.#pause(10_000);
      const again = this.#subject.forgetsKeys === true ? {} : { idempotencyKey: key };
      await this.#send(name, draft, again);
    }
  }

  /** Resolves with the key to repeat the create with, if its outcome is unknown. */
  async #send(name: string, draft: ProductDraft, options: CreateOptions): Promise<string | undefined> {
    const call = this.#history.begin({ what: 'create', name, draft });
    try {
      const made = await this.#writer.create(draft, { ...options, ...this.#patience() });
      this.#history.created(call, made);
      return undefined;
    } catch (error) {
      this.#history.failed(call, error);
      if (!isAccountingError(error)) return options.idempotencyKey;
      return error.outcome === 'unknown' || error.outcome === 'applied' ? error.idempotencyKey : undefined;
    }
  }

  async #update(): Promise<void> {
    const marker = this.#history.takeMarker();
    const id = this.#random.pick(this.#history.known);
    if (marker === undefined) return;
    const named = SHARED_FIELDS.filter(() => this.#random.chance(0.3));
    const values = this.#values();
    const patch: ProductPatch = {
      [marker]: this.#random.chance(0.2) ? null : `by ${marker}`,
      ...Object.fromEntries(named.map((field) => [field, this.#random.chance(0.3) ? null : values[field]])),
    };
    const call = this.#history.begin({ what: 'update', id, marker, patch });
    try {
      this.#history.updated(call, await this.#writer.update(id, patch, this.#patience()));
    } catch (error) {
      this.#history.failed(call, error);
    }
  }

  async #delete(): Promise<void> {
    const id = this.#random.pick(this.#history.known);
    const times = this.#random.chance(0.2) ? 2 : 1;
    await Promise.all(Array.from({ length: times }, () => this.#remove(id)));
  }

  async #remove(id: string): Promise<void> {
    const call = this.#history.begin({ what: 'delete', id });
    try {
      await this.#writer.delete(id, this.#patience());
      this.#history.deleted(call);
    } catch (error) {
      this.#history.failed(call, error);
    }
  }

  /** Some callers abort at a random moment. */
  #patience(): { signal?: AbortSignal } {
    if (!this.#random.chance(0.15)) return {};
    const controller = new AbortController();
    setTimeout(() => controller.abort(this.#history.givenUp), this.#random.int(0, 40_000));
    return { signal: controller.signal };
  }

  #values() {
    const random = this.#random;
    return {
      name: `Desk ${random.int(1, 1_000_000)}`,
      salePrice: `${random.int(0, 999_999)}.${String(random.int(0, 9_999)).padStart(4, '0')}`,
      stockQuantity: random.int(0, 100),
      isInactive: random.chance(0.5),
    };
  }
}
