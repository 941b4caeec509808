import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import { CommandFailure, EXIT, Interrupted } from './errors.ts';
import type { Io, Prompt } from './io.ts';

/** The streams of this process, for a command. Prompts and a status line exist only on a terminal. */
export function terminal(): Pick<Io, 'stdin' | 'out' | 'log' | 'write' | 'status' | 'prompt' | 'columns'> {
  const { stdin, stdout, stderr } = process;
  const line = new StatusLine(stderr);
  return {
    out: (text) => line.beside(() => console.log(text)),
    log: (text) => line.beside(() => console.error(text)),
    write: (text) =>
      new Promise((resolve, reject) => {
        const done = (error: Error | null | undefined) => (error ? reject(brokenOutput(error)) : resolve());
        line.beside(() => stdout.write(text, done));
      }),
    status: stderr.isTTY === true && process.env.TERM !== 'dumb' ? (text) => line.show(text) : undefined,
    stdin,
    prompt: stdin.isTTY === true && stderr.isTTY === true ? { secret, confirm } : undefined,
    columns: stdout.isTTY === true ? stdout.columns || undefined : undefined,
  };
}

/** An error of standard output: a reader such as `head` has ended, or the output cannot be written. */
export function brokenOutput(error: NodeJS.ErrnoException): Interrupted | CommandFailure {
  if (error.code === 'EPIPE') return new Interrupted('EPIPE', EXIT.pipeClosed);
  return new CommandFailure(`Standard output cannot be written: ${error.message}.`, {
    advice: 'Check where it is redirected to, and the free space there.',
    exitCode: EXIT.file,
  });
}

/** Where a status line is shown. */
interface Screen {
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

const CLEAR = '\r\u001b[2K';
/** Drawing more often would only cost time. */
const REDRAW_MS = 80;

/** One line of a terminal that is drawn again and again. */
export class StatusLine {
  readonly #screen: Screen;
  #text: string | undefined;
  #drawnAt = 0;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** Shows a text; undefined removes the line. */
  show(text: string | undefined): void {
    const appears = (text === undefined) !== (this.#text === undefined);
    this.#text = text;
    if (appears || (text !== undefined && monotonicMs() - this.#drawnAt >= REDRAW_MS)) this.#draw();
  }

  /** Removes the line, writes something else to the terminal, and draws the line again. */
  beside(write: () => void): void {
    if (this.#text !== undefined) this.#screen.write(CLEAR);
    write();
    if (this.#text !== undefined) this.#draw();
  }

  /** Cuts a long text, because a line that wraps could not be removed. */
  #draw(): void {
    this.#drawnAt = monotonicMs();
    // Some terminals report 0 columns.
    const room = (this.#screen.columns || 80) - 1;
    this.#screen.write(`${CLEAR}${this.#text?.slice(0, room) ?? ''}`);
  }
}

/** Questions are written to standard error, because standard output is for the result. */
const secret: Prompt['secret'] = async (question, signal) => {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  process.stderr.write(question);
  try {
    return await lines.question('', { signal });
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
};

const confirm: Prompt['confirm'] = async (question, signal) => {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    return /^y(?:es)?$/i.test((await lines.question(`${question} [y/N] `, { signal })).trim());
  } finally {
    lines.close();
  }
};
