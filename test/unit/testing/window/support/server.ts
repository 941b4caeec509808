import type { ServerResponse } from 'node:http';
import { EventStream } from '../../../../../src/testing/adapters/event-stream.ts';
import { createFetch } from '../../../../../src/testing/adapters/fetch.ts';
import { Control } from '../../../../../src/testing/control/control.ts';
import { createCore } from '../../../../../src/testing/create-core.ts';
import type { Core } from '../../../../../src/testing/exchange.ts';
import type { SandboxOptions } from '../../../../../src/testing/options.ts';

export const ORIGIN = 'http://127.0.0.1:4010';

/** A sandbox that listens with its control, without a socket. */
export class Server {
  readonly core: Core;
  isUp = true;
  /** How long a response to the page is on its way. */
  latencyMs = 0;
  /** The requests to the control, as the page sends them. */
  readonly calls: string[] = [];
  readonly #control: Control;
  readonly #events: EventStream;
  readonly #readers = new Set<{ close: () => void }>();

  constructor(options: SandboxOptions) {
    this.core = createCore(options);
    this.#control = new Control(this.core, undefined);
    this.#events = new EventStream(this.#control.log);
    this.#control.onChange = () => this.#events.announce('state');
  }

  /** A request of a connector. */
  async send(request: string, init: RequestInit = {}, key = 'full'): Promise<Response> {
    const [method = '', path = ''] = request.split(' ');
    const credential = this.core.state.keyring.all.find(({ name }) => name === key);
    const headers = new Headers({ 'user-agent': 'connector', ...(init.headers as Record<string, string>) });
    if (credential !== undefined) headers.set('x-auth-token', credential.key);
    if (init.body !== undefined) headers.set('content-type', 'application/json');
    const serves = createFetch(this.core, () => true);
    return await serves(`${ORIGIN}/api/public/v1${path}`, { ...init, method, headers });
  }

  /** `fetch` of the page. */
  readonly fetch = async (address: string, init: RequestInit = {}): Promise<ReceivedResponse> => {
    const { pathname: path, search } = new URL(address, ORIGIN);
    const { method = 'GET', body = '' } = init;
    this.calls.push(`${method} ${address}${body === '' ? '' : ` ${body}`}`);
    if (!this.isUp) throw new TypeError('Failed to fetch');
    const headers = { host: new URL(ORIGIN).host, ...(init.headers as Record<string, string>) };
    const head = { method, path, query: search.slice(1), headers: lowerCase(headers) };
    const rejected = this.#control.reject(head);
    const given = new TextEncoder().encode(String(body));
    const { status, body: text } = rejected ?? this.#control.respond({ ...head, body: given });
    if (this.latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, this.latencyMs));
    return { ok: status < 400, status, text: async () => new TextDecoder().decode(text) };
  };

  /** What another program does over HTTP. */
  control(request: string, body: object = {}): void {
    const [method = '', path = ''] = request.split(' ');
    const given = new TextEncoder().encode(JSON.stringify(body));
    this.#control.respond({ method, path: `/_sandbox${path}`, query: '', headers: {}, body: given });
  }

  /** Sends events to a reader until one of both ends the connection. */
  follow(address: string, lastId: string | undefined, reader: Reader): () => void {
    const { pathname: path, search } = new URL(address, ORIGIN);
    const head = { method: 'GET', path, query: search.slice(1), headers: { host: new URL(ORIGIN).host } };
    const { follow } = this.#control.respond({ ...head, body: new Uint8Array() });
    if (follow === undefined) throw new Error(`${address} is no stream of events.`);
    let ended = () => {};
    const response = {
      writableLength: 0,
      write: reader.read,
      once: (_: string, listener: () => void) => {
        ended = listener;
      },
    };
    this.#events.follow(response as unknown as ServerResponse, { ...follow, lastId });
    const connection = { close: () => [ended(), reader.lost()] };
    this.#readers.add(connection);
    return () => {
      this.#readers.delete(connection);
      ended();
    };
  }

  stop(): void {
    this.isUp = false;
    for (const reader of this.#readers) reader.close();
    this.#readers.clear();
  }
}

/** What the page reads of a response. It arrives at once, unlike the body of a real one. */
type ReceivedResponse = Pick<Response, 'ok' | 'status' | 'text'>;

export interface Reader {
  read(text: string): void;
  lost(): void;
}

const lowerCase = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
