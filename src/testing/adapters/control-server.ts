import type { IncomingMessage, ServerResponse } from 'node:http';
import { Control } from '../control/control.ts';
import type { Core } from '../exchange.ts';
import type { ServiceRequest, ServiceResponse } from '../message.ts';
import { EventStream } from './event-stream.ts';

/** Enough for the records of a reset. */
const MOST_BODY_BYTES = 4_194_304;

/** No page of another origin can use a response. */
const HEADERS = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** The control of a sandbox on its port. */
export class ControlServer {
  readonly #control: Control;
  readonly #events: EventStream;

  constructor(core: Core, hosts: readonly string[] | undefined) {
    this.#control = new Control(core, hosts);
    this.#events = new EventStream(this.#control.log);
    this.#control.onChange = () => this.#events.announce('state');
  }

  /** Responds to a request below `/_sandbox`, whose body is read only if nothing else is wrong with it. */
  async serve(request: IncomingMessage, response: ServerResponse, head: Omit<ServiceRequest, 'body'>) {
    const rejected = this.#control.reject(head);
    if (rejected !== undefined) return send(response, rejected);
    const body = await readBody(request);
    if (body === undefined) return send(response, this.#control.tooLarge(MOST_BODY_BYTES));
    const responded = this.#control.respond({ ...head, body });
    const { follow } = responded;
    if (follow === undefined || request.method === 'HEAD') return send(response, responded);
    response.writeHead(responded.status, { ...HEADERS, ...responded.headers });
    this.#events.follow(response, { ...follow, lastId: head.headers['last-event-id'] });
  }

  close(): void {
    this.#control.close();
  }
}

function send(response: ServerResponse, { status, headers, body }: ServiceResponse): void {
  const length = body === undefined ? {} : { 'Content-Length': body.byteLength };
  response.writeHead(status, { ...HEADERS, ...headers, ...length }).end(body);
}

/** The body; undefined if it is too large. Node discards the rest of it after the response. */
async function readBody(request: IncomingMessage): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = Number(request.headers['content-length'] ?? 0);
  if (size > MOST_BODY_BYTES) return undefined;
  size = 0;
  return await new Promise((resolve, reject) => {
    request.on('data', (chunk: Uint8Array) => {
      size += chunk.byteLength;
      if (size > MOST_BODY_BYTES) resolve(undefined);
      else chunks.push(chunk);
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', reject);
  });
}
