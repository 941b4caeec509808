import { createFetch, type SandboxFetch } from './adapters/fetch.ts';
import { type Listening, type ListenOptions, listen } from './adapters/server.ts';
import type { SandboxClock } from './clock.ts';
import { createCore } from './create-core.ts';
import type { Core, RequestObserver } from './exchange.ts';
import type { Faults } from './faults/fault-rules.ts';
import type { KeyGrant, SandboxKeys } from './keys.ts';
import type { LoggedRequest } from './log.ts';
import type { SandboxOptions } from './options.ts';
import type { Commit } from './service/state.ts';
import { createStore, type SandboxStore } from './store/sandbox-store.ts';

/** The options with which `createClient` reaches a sandbox. */
export interface SandboxClientOptions {
  /** The origin of the sandbox, or of its server once it listens. */
  readonly baseUrl: string;
  /** `sandbox.keys.full`. */
  readonly apiKey: string;
  /** Absent once the sandbox listens: the client then uses its own. */
  readonly fetch?: SandboxFetch;
}

/** `[Symbol.asyncDispose]()`, for compilers whose library has it: with an older one the declaration is valid too. */
type Disposal = SymbolConstructor extends { readonly asyncDispose: infer Key extends symbol }
  ? { [_ in Key]: () => Promise<void> }
  : Record<never, never>;

/** A faithful service in memory. See {@link createSandbox}. */
export interface Sandbox extends Disposal {
  /** For `createClient`: through `sandbox.fetch`, or over HTTP once the sandbox listens. */
  readonly clientOptions: SandboxClientOptions;
  /** The option `origin`, or the origin of the port once the sandbox listens. */
  readonly baseUrl: string;
  /** A key for each company and set of permissions. */
  readonly keys: SandboxKeys;
  /** The service as a `fetch`. Nothing leaves the process. */
  readonly fetch: SandboxFetch;
  /** The records of the first company. */
  readonly store: SandboxStore;
  /** The records of the other company. */
  readonly otherStore: SandboxStore;
  /** The last requests, oldest first, at most 10,000, in a new array each time. */
  readonly requests: readonly LoggedRequest[];
  /** The last changes that requests made, oldest first, at most 10,000. What `store` writes is not among them. */
  readonly journal: readonly Commit[];
  readonly faults: Faults;
  readonly clock: SandboxClock;
  /** The number of requests: all, or those in `requests` that meet the condition. */
  count(condition?: (request: LoggedRequest) => boolean): number;
  /** Empties `requests` and `journal`. */
  clearLogs(): void;
  /** Creates a key with other permissions, for example one that only reads accounts. */
  issueKey(grant?: KeyGrant): string;
  /** From now on, requests with this key are rejected with 401. Throws a RangeError for an unknown key. */
  revokeKey(key: string): void;
  /**
   * Makes the sandbox what it was when it was created: records, keys, clock and quotas. Ends all faults and empties the
   * logs. `changes` are options that the service has until the next reset, such as `{ pageSize: 10 }`; the values of
   * `keys` stay. Throws as `createSandbox` does, and then nothing changes.
   */
  reset(changes?: SandboxOptions): void;
  /** Serves HTTP/1.1 on a port; rejects if the sandbox is already listening. */
  listen(options?: ListenOptions): Promise<Listening>;
  /** Calls the listener with each request once its response is known. Returns a function that removes the listener. */
  onRequest(listener: (request: LoggedRequest) => void): () => void;
  /** Closes the port, if the sandbox listens. The records stay. */
  close(): Promise<void>;
}

/**
 * Creates a faithful service in memory, without records by default, for the tests of a connector. Throws a TypeError for
 * an option or a value that does not exist, and a RangeError for invalid fixtures.
 *
 * ```ts
 * await using sandbox = createSandbox({ records: 500 });
 * const client = createClient(sandbox.clientOptions);
 * sandbox.faults.next({ kind: 'lost-response', committed: true });
 * ```
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  const core = createCore(options);
  const { origin: given } = core.state.options;
  const origin = given === undefined ? newOrigin() : new URL(given).origin;
  const port = createPort(core);
  const fetch = createFetch(core, (requested) => requested === origin || requested === port.url);
  const keys = core.state.keyring.named;
  const { faults, observers, requests } = core;

  return {
    get clientOptions() {
      const apiKey = keys.full;
      return port.url === undefined ? { baseUrl: origin, apiKey, fetch } : { baseUrl: port.url, apiKey };
    },
    get baseUrl() {
      return port.url ?? origin;
    },
    get requests() {
      return requests.list();
    },
    get journal() {
      return core.state.journal.list();
    },
    keys,
    fetch,
    store: createStore(() => core.state.companies.main),
    otherStore: createStore(() => core.state.companies.other),
    faults,
    clock: {
      now: () => core.state.clock.now(),
      set: (timestamp) => core.state.clock.set(timestamp),
      advance: (ms) => core.state.clock.advance(ms),
      freeze: () => core.state.clock.freeze(),
    },
    count: (condition) =>
      condition === undefined ? requests.total : requests.list().filter(condition).length,
    clearLogs: () => core.clearLogs(),
    issueKey: (grant = {}) => core.state.keyring.issue(grant),
    revokeKey: (key) => core.state.keyring.revoke(key),
    reset: (changes) => core.reset(changes),
    listen: (listenOptions) => port.listen(listenOptions),
    onRequest(listener) {
      const observer: RequestObserver = { responded: (request) => listener(request) };
      observers.add(observer);
      return () => void observers.delete(observer);
    },
    close: () => port.close(),
    [Symbol.asyncDispose]: () => port.close(),
  };
}

/** How many sandboxes every copy of the package in this process has made: their rate limiters are shared by origin. */
const SLOT = Symbol.for('accounting-data-sdk.sandboxes');

/** An origin that no other sandbox of this process has. */
function newOrigin(): string {
  const holder = globalThis as { [SLOT]?: number };
  holder[SLOT] = (holder[SLOT] ?? 0) + 1;
  return `https://sandbox-${holder[SLOT]}.invalid`;
}

/** The port of a sandbox: at most one at a time. */
function createPort(core: Core) {
  let listening: Promise<Listening> | undefined;
  let current: Listening | undefined;
  return {
    get url() {
      return current?.url;
    },
    async listen(options: ListenOptions = {}) {
      if (listening !== undefined) throw new Error('The sandbox is already listening.');
      listening = listen(core, options);
      try {
        current = await listening;
        return current;
      } catch (error) {
        listening = undefined;
        throw error;
      }
    },
    async close() {
      const server = await listening?.catch(() => undefined);
      listening = undefined;
      current = undefined;
      await server?.close();
    },
  };
}
