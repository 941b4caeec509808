import type { Listening } from 'accounting-data-sdk/testing';
import { expect } from 'vitest';
import { CallResponse } from './call.ts';

/** Sends a request to `/_sandbox` of a port. A body that is a string is sent as it is. */
export type Control = (request: string, body?: unknown, headers?: HeadersInit) => Promise<CallResponse>;

/** `await control('POST /faults', { kind: 'stall' })`. No response lets another page read it. */
export function controlOf({ url }: Pick<Listening, 'url'>): Control {
  return async (call, body, headers = { 'Content-Type': 'application/json' }) => {
    const [method = '', path = ''] = call.split(' ');
    const sent = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(`${url}/_sandbox${path}`, { method, headers, body: sent });
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
    return new CallResponse(call, response, await response.text());
  };
}

/** Reads the events of a port until the test has seen what it waits for. */
export class Events {
  readonly #stop: AbortController;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = '';

  private constructor(body: ReadableStream<Uint8Array>, stop: AbortController) {
    this.#stop = stop;
    this.#reader = body.getReader();
  }

  static async open({ url }: Pick<Listening, 'url'>, query = '', headers: HeadersInit = {}): Promise<Events> {
    const stop = new AbortController();
    const response = await fetch(`${url}/_sandbox/events${query}`, { headers, signal: stop.signal });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    // A proxy that compresses would wait for more.
    expect(response.headers.get('cache-control')).toBe('no-store, no-transform');
    return new Events(response.body as ReadableStream<Uint8Array>, stop);
  }

  /** The next event: its name, its id and its data. */
  async next(): Promise<{ readonly event: string; readonly id: string; readonly data: unknown }> {
    for (;;) {
      const [block, ...rest] = this.#text.split('\n\n');
      if (rest.length > 0) {
        this.#text = rest.join('\n\n');
        const lines = (block ?? '').split('\n');
        const valuesOf = (name: string) =>
          lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2));
        const [event] = valuesOf('event');
        if (event === undefined) continue;
        return { event, id: valuesOf('id').join(), data: JSON.parse(valuesOf('data').join('\n')) };
      }
      const { done, value } = await this.#reader.read();
      if (done) throw new Error('The events have ended.');
      this.#text += this.#decoder.decode(value, { stream: true });
    }
  }

  close(): void {
    this.#stop.abort();
  }
}
