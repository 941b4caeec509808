import type { ServerResponse } from 'node:http';
import { type Recorded, type RequestLog, requestText } from '../control/request-log.ts';

/** A reader that is so far behind is disconnected: what waits for it would fill the memory. */
const MOST_BYTES_BEHIND = 8_388_608;

interface Reader {
  readonly bodies: boolean;
  /** How far behind it may be: what it has missed is sent at once, and may be more. */
  readonly mostBehind: number;
}

/** Proxies and browsers close a connection without a byte. */
const KEEP_ALIVE_MS = 15_000;

/** What a reader gets. */
interface Following {
  /** The requests after this one come first. */
  readonly after: number | undefined;
  readonly bodies: boolean;
  /** `Last-Event-ID` of a reader that was connected before. */
  readonly lastId: string | undefined;
}

/** The request log as server-sent events, for any number of readers. */
export class EventStream {
  readonly #log: RequestLog;
  readonly #readers = new Map<ServerResponse, Reader>();
  /** Requests whose last change was not sent yet. */
  readonly #changed = new Set<Recorded>();
  #keepAlive: ReturnType<typeof setInterval> | undefined;

  constructor(log: RequestLog) {
    this.#log = log;
    log.onChange = (recorded) => {
      if (this.#readers.size === 0) return;
      // What happens at once, such as an arrival and its response, is one event.
      if (this.#changed.size === 0) queueMicrotask(() => this.#sendChanged());
      this.#changed.add(recorded);
    };
    log.onClear = () => this.announce('cleared');
  }

  /** Sends events over a response, whose head was written, until its connection ends. */
  follow(response: ServerResponse, { after, bodies, lastId }: Following): void {
    const [instance, revision] = lastId?.split(':') ?? [];
    // The log of a sandbox that was started again begins again.
    const seen = instance === this.#log.instance ? Number(revision) : 0;
    const isMissed = (recorded: Recorded) =>
      lastId === undefined ? recorded.number > (after ?? Infinity) : recorded.revision > seen;
    const missed = this.#log.list(isMissed).toSorted((one, other) => one.revision - other.revision);
    response.write(`: ${this.#log.instance}\n\n${missed.map((one) => this.#event(one, bodies)).join('')}`);
    this.#readers.set(response, { bodies, mostBehind: MOST_BYTES_BEHIND + response.writableLength });
    this.#keepAlive ??= setInterval(() => this.#send(() => ': open\n\n'), KEEP_ALIVE_MS);
    response.once('close', () => {
      this.#readers.delete(response);
      if (this.#readers.size > 0) return;
      clearInterval(this.#keepAlive);
      this.#keepAlive = undefined;
    });
  }

  /** Sends an event without content: something else than a request has changed. */
  announce(name: 'cleared' | 'state'): void {
    this.#sendChanged();
    this.#send(() => `event: ${name}\ndata: {}\n\n`);
  }

  #sendChanged(): void {
    const changed = [...this.#changed];
    this.#changed.clear();
    for (const recorded of changed) {
      // Each form is written at most once, for all readers.
      const texts = new Map<boolean, string>();
      this.#send(({ bodies }) => {
        const text = texts.get(bodies) ?? this.#event(recorded, bodies);
        texts.set(bodies, text);
        return text;
      });
    }
  }

  #send(textFor: (reader: Reader) => string): void {
    for (const [response, reader] of this.#readers) {
      if (response.writableLength > reader.mostBehind) response.destroy();
      else response.write(textFor(reader));
    }
  }

  #event(recorded: Recorded, bodies: boolean): string {
    // A body may have lines.
    const data = requestText(recorded, { bodies }).replaceAll(/\r\n?|\n/g, '\ndata: ');
    return `event: request\nid: ${this.#log.instance}:${recorded.revision}\ndata: ${data}\n\n`;
  }
}
