import type { CallEvent, Listeners } from 'accounting-data-sdk';
import type { CommandIo } from './io.ts';

/** Without a terminal: when the first line about the progress appears, and the time between the lines after it. */
const FIRST_LINE_MS = 3_000;
const LINE_EVERY_MS = 10_000;

/** What happened to an attempt without a response, by the reason of the event. */
const FAILED: Readonly<Record<string, string>> = { unsent: 'cannot be reached', lost: 'did not respond' };

/** Shows how far a command is: in the status line of a terminal, otherwise in a line from time to time. */
export class Progress {
  readonly #io: CommandIo;
  #nextAt = performance.now() + FIRST_LINE_MS;

  constructor(io: CommandIo) {
    this.#io = io;
  }

  /** Shows a text. Without a terminal it is printed if a line is due, or will be before the next text in `nextMs`. */
  show(text: string, nextMs = 0): void {
    const now = performance.now();
    if (this.#io.status !== undefined) this.#io.status(text);
    else if (now + nextMs >= this.#nextAt) {
      this.#nextAt = now + LINE_EVERY_MS;
      this.#io.note(text);
    }
  }

  /** Listeners of a client that show why a call waits; `before` is what the command has done so far. */
  listeners(before: () => string = () => ''): Listeners {
    const show = (text: string, ms = 0) => this.show([before(), text].filter(Boolean).join('; '), ms);
    const late = new Map<number, NodeJS.Timeout>();
    const isOver = ({ call }: Pick<CallEvent, 'call'>) => {
      clearTimeout(late.get(call));
      late.delete(call);
    };
    return {
      request: ({ call, origin }) => {
        const text = `waiting for a response from ${new URL(origin).host}`;
        late.set(call, setTimeout(() => show(text), FIRST_LINE_MS).unref());
      },
      response: isOver,
      end: isOver,
      wait: ({ waitMs }) =>
        show(`waiting${waitMs === undefined ? '' : ` ${seconds(waitMs)}`} for the quota of the key`, waitMs),
      retry: ({ reason, waitMs, origin, ...event }) => {
        isOver(event);
        const what = FAILED[reason] ?? `returned ${reason}`;
        show(`${new URL(origin).host} ${what}; retrying in ${seconds(waitMs)}`, waitMs);
      },
    };
  }
}

/** How much of a known total is done: `[====      ]`. */
export function bar(done: number, total: number): string {
  const full = total === 0 ? 10 : Math.floor((10 * Math.min(done, total)) / total);
  return `[${'='.repeat(full)}${' '.repeat(10 - full)}]`;
}

function seconds(ms: number): string {
  return `${Math.ceil(ms / 1000)} s`;
}
