import type { Fault, SandboxKeys, SandboxOptions } from 'accounting-data-sdk/testing';

/** Which requests a fault meets. */
export interface Match {
  readonly method?: string;
  readonly times?: number;
}

/** A request as the books have logged it. */
export interface Logged {
  readonly method: string;
  readonly status?: number;
  readonly fault?: string;
  readonly idempotencyKey?: string;
}

/** What the process of the books can be told to do. */
export type Order =
  | { readonly do: 'open'; readonly options: SandboxOptions }
  | { readonly do: 'close'; readonly id: number }
  | { readonly do: 'fault'; readonly id: number; readonly fault: Fault; readonly match: Match }
  | { readonly do: 'insert'; readonly id: number; readonly count: number }
  | { readonly do: 'look'; readonly id: number };

export interface Opened {
  readonly id: number;
  readonly baseUrl: string;
  readonly keys: SandboxKeys;
}

/** What is in the books, and what they were asked. */
export interface Look {
  readonly accounts: readonly string[];
  readonly products: readonly string[];
  readonly requests: readonly Logged[];
  readonly created: number;
}

/** Sandboxes that listen in another process, by way of the port at which it takes orders. */
export class Books {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly keys: SandboxKeys;
  readonly #orders: string;
  readonly #id: number;

  private constructor(orders: string, { id, baseUrl, keys }: Opened) {
    this.#orders = orders;
    this.#id = id;
    this.baseUrl = baseUrl;
    this.keys = keys;
    this.apiKey = keys.full;
  }

  /** Opens new books at the process that takes orders at a URL. */
  static async open(orders: string, options: SandboxOptions = {}): Promise<Books> {
    return new Books(orders, await send<Opened>(orders, { do: 'open', options }));
  }

  /** For `createClient`. */
  get clientOptions() {
    return { baseUrl: this.baseUrl, apiKey: this.apiKey };
  }

  fault(fault: Fault, match: Match = {}): Promise<void> {
    return send(this.#orders, { do: 'fault', id: this.#id, fault, match });
  }

  /** Adds accounts that were made just now. Resolves to their ids. */
  insert(count: number): Promise<string[]> {
    return send(this.#orders, { do: 'insert', id: this.#id, count });
  }

  look(): Promise<Look> {
    return send(this.#orders, { do: 'look', id: this.#id });
  }

  close(): Promise<void> {
    return send(this.#orders, { do: 'close', id: this.#id });
  }
}

async function send<Answer>(url: string, order: Order): Promise<Answer> {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(order) });
  if (!response.ok) throw new Error(`The books refuse ${order.do}: ${await response.text()}`);
  return (await response.json()) as Answer;
}
