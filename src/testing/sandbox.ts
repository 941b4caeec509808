import { createFetch, type SandboxFetch } from './adapters/fetch.ts';
import { type Listening, type ListenOptions, listen } from './adapters/server.ts';
import { createClock, type SandboxClock } from './clock.ts';
import type { Core } from './exchange.ts';
import { FaultRules, type Faults } from './faults/rules.ts';
import { type KeyGrant, Keyring, type SandboxKeys } from './keys.ts';
import type { SandboxOptions } from './options.ts';
import { Recent } from './recent.ts';
import type { LogEntry, LoggedRequest } from './request-log.ts';
import { type ResolvedSandboxOptions, resolveSandboxOptions } from './resolve-options.ts';
import { createHttpDate } from './service/http-date.ts';
import { Idempotency } from './service/idempotency.ts';
import { type Commit, createJournal } from './service/journal.ts';
import { PageCache } from './service/page-cache.ts';
import { RateLimits } from './service/rate-limit.ts';
import type { ServiceState } from './service/state.ts';
import { createCompany } from './store/company.ts';
import { createStore, type SandboxStore } from './store/sandbox-store.ts';

/** What `createClient` needs to talk to a sandbox. */
export interface SandboxClientOptions {
  readonly baseUrl: string;
  /** `sandbox.keys.full`. */
  readonly apiKey: string;
  /** Absent once the sandbox listens: then the client uses its own. */
  readonly fetch?: SandboxFetch;
}

/** A faithful service in memory. See {@link createSandbox}. */
export interface Sandbox extends AsyncDisposable {
  /** For `createClient`: through `sandbox.fetch`, or over HTTP once the sandbox listens. */
  readonly clientOptions: SandboxClientOptions;
  /** Where the service is: the made-up origin, or that of the port once it listens. */
  readonly baseUrl: string;
  /** A key for each company and permission set. */
  readonly keys: SandboxKeys;
  /** The service as a `fetch`. Nothing leaves the process. */
  readonly fetch: SandboxFetch;
  /** The books of the first company. */
  readonly store: SandboxStore;
  /** The books of the other company. */
  readonly otherStore: SandboxStore;
  /** The last requests, oldest first, up to `logLimit`. A list of its own each time. */
  readonly requests: readonly LoggedRequest[];
  /** The last changes that requests made to the books, oldest first. What `store` writes is not among them. */
  readonly journal: readonly Commit[];
  readonly faults: Faults;
  readonly clock: SandboxClock;
  /** How many requests there were, all or those for which the condition holds (among the last `logLimit`). */
  count(condition?: (request: LoggedRequest) => boolean): number;
  /** Forgets requests and journal. */
  clearLogs(): void;
  /** Makes a key with other rights, for example one that reads accounts alone. */
  issueKey(grant?: KeyGrant): string;
  /** From now on the key is answered with 401. */
  revokeKey(key: string): void;
  /** Serves HTTP/1.1 on a port; rejects if it listens already. */
  listen(options?: ListenOptions): Promise<Listening>;
  /** Calls back after each request, for a log on the screen. Returns a function that ends it. */
  onRequest(listener: (request: LoggedRequest) => void): () => void;
  /** Stops listening, if it listens. The books stay. */
  close(): Promise<void>;
}

function createState(options: ResolvedSandboxOptions): ServiceState {
  return {
    options,
    clock: createClock(options.clock, options.clockOffsetMs),
    keyring: new Keyring(options.seed),
    companies: {
      main: createCompany('main', options.records, options),
      other: createCompany('other', options.otherRecords, options),
    },
    limits: new RateLimits(options.rateLimit),
    idempotency: new Idempotency(options.idempotency),
    journal: createJournal(options.logLimit),
    pages: new PageCache(),
    httpDate: createHttpDate(),
  };
}

/** The way in over HTTP, at most one at a time. */
function createPort(core: Core) {
  let listening: Promise<Listening> | undefined;
  let current: Listening | undefined;
  return {
    get url() {
      return current?.url;
    },
    async listen(options: ListenOptions = {}) {
      if (listening !== undefined) throw new Error('The sandbox listens already.');
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

/**
 * Makes a faithful service in memory, empty unless told otherwise, for the tests of a connector.
 *
 * ```ts
 * await using sandbox = createSandbox({ records: 500 });
 * const client = createClient(sandbox.clientOptions);
 * sandbox.faults.next({ kind: 'lost-response', committed: true });
 * ```
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  const resolved = resolveSandboxOptions(options);
  const state = createState(resolved);
  const listeners = new Set<(request: LoggedRequest) => void>();
  const core: Core = {
    state,
    faults: new FaultRules(resolved.seed),
    requests: new Recent<LogEntry>(resolved.logLimit),
    onRequest: (entry) => {
      for (const listener of listeners) listener(entry.read());
    },
  };
  const port = createPort(core);
  const fetch = createFetch(core, (origin) => origin === resolved.origin || origin === port.url);
  const { clock, companies, journal, keyring } = state;

  return {
    get clientOptions() {
      const apiKey = keyring.named.full;
      return port.url === undefined
        ? { baseUrl: resolved.origin, apiKey, fetch }
        : { baseUrl: port.url, apiKey };
    },
    get baseUrl() {
      return port.url ?? resolved.origin;
    },
    get requests() {
      return core.requests.list().map((entry) => entry.read());
    },
    get journal() {
      return journal.list();
    },
    keys: keyring.named,
    fetch,
    store: createStore(companies.main, clock, resolved),
    otherStore: createStore(companies.other, clock, resolved),
    faults: core.faults,
    clock,
    count(condition) {
      return condition === undefined ? core.requests.total : this.requests.filter(condition).length;
    },
    clearLogs() {
      core.requests.clear();
      journal.clear();
    },
    issueKey: (grant = {}) => keyring.issue(grant),
    revokeKey: (key) => keyring.revoke(key),
    listen: (given) => port.listen(given),
    onRequest(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: () => port.close(),
    [Symbol.asyncDispose]: () => port.close(),
  };
}
